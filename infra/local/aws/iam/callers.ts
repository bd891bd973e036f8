import { createHash, randomBytes } from 'node:crypto'
import type { StackModel } from '../../model.ts'
import { compileSession, type FindDenial, type RoleSession } from './authorize.ts'

/** An access key, with which a function or a person signs requests. */
export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
}

/** The sender of a request. */
export interface Caller {
  arn: string
  userId: string
  credentials: Credentials
  /** Answers why a request is denied; never, to the owner of the account. */
  findDenial: FindDenial
}

/** Everybody who may sign requests. */
export type Callers = ReturnType<typeof openCallers>

/** Issues an access key to every function and role; throws on a policy that cannot be evaluated. */
export function openCallers(model: StackModel) {
  const byArn = new Map<string, Caller>()
  const add = (arn: string, sessionName: string, session: RoleSession) => {
    const roleName = session.roleArn.slice(session.roleArn.lastIndexOf('/') + 1)
    const sessionArn = `arn:aws:sts::${model.accountId}:assumed-role/${roleName}/${sessionName}`
    // The id is the same at every start, so a function that outlives the endpoint keeps its identity.
    const digest = createHash('sha256').update(arn).digest('hex').toUpperCase()
    const accessKeyId = `ASIA${digest.slice(0, 16)}`
    byArn.set(arn, {
      arn: sessionArn,
      userId: `${accessKeyId}:${sessionName}`,
      credentials: { accessKeyId, secretAccessKey: randomBytes(30).toString('base64') },
      findDenial: compileSession(sessionArn, session, model),
    })
  }
  for (const { arn, name, roleArn, policies } of model.functions)
    add(arn, name, { roleArn, policies, origin: `function ${name}` })
  for (const { arn, name, policies } of model.roles)
    add(arn, 'local', { roleArn: arn, policies, origin: `role ${name}` })

  const byAccessKeyId = new Map([...byArn.values()].map((caller) => [caller.credentials.accessKeyId, caller]))
  const owner: Caller = {
    arn: `arn:aws:iam::${model.accountId}:root`,
    userId: model.accountId,
    credentials: { accessKeyId: 'OWNER', secretAccessKey: 'any' },
    findDenial: () => undefined,
  }
  return {
    /** A function or role by its own access key, the owner for any other; undefined if nobody has signed. */
    identify(authorization = ''): Caller | undefined {
      // The signature is not checked: the endpoint listens on the loopback interface only and takes any
      // credentials. Access keys only tell functions apart.
      const accessKeyId = /^AWS4-\S+ Credential=([^/,\s]+)\//.exec(authorization)?.[1]
      return accessKeyId === undefined ? undefined : (byAccessKeyId.get(accessKeyId) ?? owner)
    },
    /** By the ARN of a function, or of a role that people assume. */
    of: (arn: string) => byArn.get(arn),
  }
}

import { createHash, randomBytes } from 'node:crypto'
import type { FunctionModel, PolicyDocument, RoleModel, StackModel } from '../../model.ts'
import { compileSession, type FindDenial, type RoleSession } from './authorize.ts'

/** An AWS access key, with which a function or a person signs requests. */
export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
}

/** The function or person that signed an AWS request. */
export interface Caller {
  arn: string
  credentials: Credentials
  /** Returns why a request of this caller is denied. IAM policies never deny the account's root user. */
  findDenial: FindDenial
}

/**
 * Computes the access key id of a function or role from its ARN, so that the id stays the same if the
 * endpoint restarts while the functions keep running.
 */
export const accessKeyIdOf = (arn: string): string =>
  `ASIA${createHash('sha256').update(arn).digest('hex').toUpperCase().slice(0, 16)}`

/** All callers that can sign requests. */
export type Callers = ReturnType<typeof openCallers>

/** Issues an access key to every function and role. Throws on a policy that cannot be emulated. */
export function openCallers(model: StackModel) {
  const byArn = new Map<string, Caller>()
  const byAccessKeyId = new Map<string, Caller>()
  const add = (arn: string, sessionName: string, session: RoleSession) => {
    const roleName = session.roleArn.slice(session.roleArn.lastIndexOf('/') + 1)
    const sessionArn = `arn:aws:sts::${model.accountId}:assumed-role/${roleName}/${sessionName}`
    const accessKeyId = accessKeyIdOf(arn)
    const caller: Caller = {
      arn: sessionArn,
      credentials: { accessKeyId, secretAccessKey: randomBytes(30).toString('base64') },
      findDenial: compileSession(sessionArn, session, model),
    }
    byArn.set(arn, caller)
    byAccessKeyId.set(accessKeyId, caller)
  }
  for (const { arn, name, roleArn, roleTags, policies } of model.functions)
    add(arn, name, { roleArn, roleTags, policies, origin: `function ${name}` })
  for (const { arn, name, tags, policies } of model.roles)
    add(arn, 'local', { roleArn: arn, roleTags: tags, policies, origin: `role ${name}` })

  const ownerArn = `arn:aws:iam::${model.accountId}:root`
  const everything: PolicyDocument = { Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] }
  const owner: Caller = {
    arn: ownerArn,
    credentials: { accessKeyId: 'OWNER', secretAccessKey: 'any' },
    findDenial: compileSession(
      ownerArn,
      { origin: 'the owner', roleArn: ownerArn, roleTags: {}, policies: [everything] },
      model,
    ),
  }
  return {
    /** Finds who signed a request; undefined if nobody. An unknown access key counts as the root user's. */
    identify(authorization = ''): Caller | undefined {
      // Does not verify the signature: the endpoint listens on the loopback interface only and accepts any
      // credentials. The access key only identifies the function that sent the request.
      const accessKeyId = /^AWS4-\S+ Credential=([^/,\s]+)\//.exec(authorization)?.[1]
      return accessKeyId === undefined ? undefined : (byAccessKeyId.get(accessKeyId) ?? owner)
    },
    /** Finds the caller by the ARN of a function, or of a role that people assume. */
    of: (arn: string) => byArn.get(arn),
    /** Returns the access key of a function or role, by which the endpoint finds the caller's policies. */
    credentialsFor({ arn, name }: FunctionModel | RoleModel): Credentials {
      const holder = byArn.get(arn)
      if (holder === undefined) throw new Error(`${name} is no function or role of this stack`)
      return holder.credentials
    },
  }
}

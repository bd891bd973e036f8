import type { StackModel } from '../../model.ts'
import { issueCredentials, readAccessKeyId, type Credentials } from '../wire/credentials.ts'
import { authorizeOwner, authorizeSession, type Authorize } from './authorize.ts'

/** Somebody who signs requests. */
export interface Caller {
  authorize: Authorize
  userId: string
  arn: string
}

/** Everybody who may sign requests: the functions, those who take on a role, and the account's owner. */
export interface Callers {
  /** Who signed: a function or a role by its own key, and with any other credentials the owner; undefined if nobody did. */
  identify(authorization: string | undefined): Caller | undefined
  /** By the ARN of a function, or of a role that people take on. */
  of(arn: string): { caller: Caller; credentials: Credentials } | undefined
}

/** Issues a key to every function and every role, and compiles their policies; throws on one that could not be evaluated. */
export function openCallers(model: StackModel): Callers {
  const all = [
    ...model.functions.map(({ arn, name, roleArn, policies }) =>
      describe(model, { arn, name, roleArn, policies, origin: `function ${name}` }),
    ),
    ...model.roles.map(({ arn, name, policies }) =>
      describe(model, { arn, name: 'local', roleArn: arn, policies, origin: `role ${name}` }),
    ),
  ]
  const byArn = new Map(all.map((item) => [item.arn, item]))
  const byAccessKeyId = new Map(all.map(({ caller, credentials }) => [credentials.accessKeyId, caller]))
  const owner: Caller = {
    authorize: authorizeOwner,
    userId: model.accountId,
    arn: `arn:aws:iam::${model.accountId}:root`,
  }
  return {
    identify(authorization) {
      const accessKeyId = readAccessKeyId(authorization)
      return accessKeyId === undefined ? undefined : (byAccessKeyId.get(accessKeyId) ?? owner)
    },
    of: (arn) => byArn.get(arn),
  }
}

interface Holder {
  arn: string
  /** Name of the session. */
  name: string
  roleArn: string
  policies: StackModel['roles'][number]['policies']
  origin: string
}

function describe(model: StackModel, { arn, name, roleArn, policies, origin }: Holder) {
  const credentials = issueCredentials(arn)
  const roleName = roleArn.slice(roleArn.lastIndexOf('/') + 1)
  const session = `arn:aws:sts::${model.accountId}:assumed-role/${roleName}/${name}`
  const caller: Caller = {
    authorize: authorizeSession({ origin, roleArn, arn: session, policies }, model),
    userId: `${credentials.accessKeyId}:${name}`,
    arn: session,
  }
  return { arn, credentials, caller }
}

import type { FunctionModel, StackModel } from '../../model.ts'
import { issueCredentials, readAccessKeyId, type Credentials } from '../wire/credentials.ts'
import { authorizeFunction, authorizeOwner, type Authorize } from './authorize.ts'

/** Somebody who signs requests. */
export interface Caller {
  authorize: Authorize
  userId: string
  arn: string
}

/** Everybody who may sign requests: the functions, and the account's owner. */
export interface Callers {
  /** Who signed: a function by its own key, and with any other credentials the owner; undefined if nobody did. */
  identify(authorization: string | undefined): Caller | undefined
  ofFunction(functionArn: string): { caller: Caller; credentials: Credentials } | undefined
}

/** Issues a key to every function and compiles its policies; throws on one that could not be evaluated. */
export function openCallers(model: StackModel): Callers {
  const functions = model.functions.map((item) => describeFunction(model, item))
  const byFunction = new Map(functions.map((item) => [item.functionArn, item]))
  const byAccessKeyId = new Map(functions.map(({ caller, credentials }) => [credentials.accessKeyId, caller]))
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
    ofFunction: (functionArn) => byFunction.get(functionArn),
  }
}

function describeFunction(model: StackModel, item: FunctionModel) {
  const credentials = issueCredentials(item.arn)
  const roleName = item.roleArn.slice(item.roleArn.lastIndexOf('/') + 1)
  const caller: Caller = {
    authorize: authorizeFunction(item, model),
    userId: `${credentials.accessKeyId}:${item.name}`,
    arn: `arn:aws:sts::${model.accountId}:assumed-role/${roleName}/${item.name}`,
  }
  return { functionArn: item.arn, credentials, caller }
}

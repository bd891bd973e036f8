import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StackModel } from '../../model.ts'
import { authorizeOwner } from '../iam/authorize.ts'
import { AwsError } from '../wire/aws-error.ts'
import type { Call } from '../wire/operation.ts'
import { listAccessRequests } from './access-requests.ts'
import type { DynamodbProxy } from './proxy.ts'

/** Asks IAM, then passes the request on to DynamoDB Local as it came. */
export async function answerDynamodb(
  model: StackModel,
  proxy: DynamodbProxy,
  operation: string,
  request: IncomingMessage,
  body: Buffer,
  call: Call,
  response: ServerResponse,
): Promise<void> {
  // The owner may do all: no need to read what is asked.
  if (call.authorize !== authorizeOwner)
    for (const access of listAccessRequests(model, operation, parseJson(body))) call.authorize(access)
  await proxy.pass(request, body, response)
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    // The parser's own words would quote the items.
    throw new AwsError('SerializationException', 'The request body is not JSON.')
  }
}

import { Agent, request as startRequest, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import * as v from 'valibot'
import { signFor } from '../../dynamodb/own-database.ts'
import type { Quirks } from '../../quirks.ts'
import type { StackModel } from '../../model.ts'
import { AwsError, parseJson, type Answer, type AwsRequest } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'
import { listAccess } from './access.ts'
import { refuseForConflict } from './conflicts.ts'
import { findTable, listTableUses, TableKeys, type TableUse } from './requests.ts'

/** Emulates DynamoDB: if IAM allows a request, forwards it to the DynamoDB Local at `endpoint`. */
export function openDynamodbProxy(model: StackModel, endpoint: string, quirks: Quirks) {
  const target = new URL(endpoint)
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo' })
  const run = async (request: AwsRequest, caller: string): Promise<Answer> => {
    const { operation } = request.target
    const stream = `${caller} ${operation}`
    const listWritten = () => listTableUses(operation, parseJson(request.body))
    if (operation === 'TransactWriteItems') refuseRepeatedItems(model, listWritten())
    refuseForConflict(quirks, stream, operation, () => listWritten().length)
    return pass(request, target, agent)
  }
  const service: Service = (request) => {
    if (!request.target.service.startsWith('DynamoDB')) return undefined
    return {
      access: () => listAccess(model, request.target.operation, parseJson(request.body)),
      run: ({ caller }) => run(request, caller.arn),
    }
  }
  return { service, close: () => agent.destroy() }
}

// Response headers not to forward: they concern one connection (RFC 9110 section 7.6.1), or Node sets them.
const connectionHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

async function pass(request: AwsRequest, target: URL, agent: Agent): Promise<Answer> {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const passed = startRequest(target.origin, {
      agent,
      method: request.method,
      path: request.path,
      headers: {
        ...request.headers,
        host: target.host,
        connection: 'keep-alive',
        'content-length': request.body.length,
        authorization: signFor(target.href, request.headers.authorization),
      },
    })
    passed.on('response', resolve).on('error', reject).end(request.body)
  })
  const headers = Object.entries(message.headers).filter(([name]) => !connectionHeaders.has(name))
  const status = message.statusCode ?? 502
  return { status, headers: Object.fromEntries(headers), body: await buffer(message) }
}

/**
 * Rejects a transaction with two operations on one item, as AWS does (Amazon DynamoDB: TransactWriteItems).
 * DynamoDB Local runs both, which would hide the mistake.
 */
function refuseRepeatedItems(model: StackModel, items: TableUse[]): void {
  const names = items.map(({ table = '', attributes }) => {
    const known = findTable(model, table)
    const keys = known && v.parse(TableKeys, known.createTableInput).KeySchema.map((key) => key.AttributeName)
    return JSON.stringify([table, ...(keys ?? Object.keys(attributes)).map((name) => attributes[name])])
  })
  if (new Set(names).size < names.length)
    throw new AwsError(
      'ValidationException',
      'Transaction request cannot include multiple operations on one item',
    )
}

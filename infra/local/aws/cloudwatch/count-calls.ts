import * as v from 'valibot'
import { listWrittenItems } from '../dynamodb/requests.ts'
import type { Answer, AwsRequest } from '../wire/http-messages.ts'
import { parseJson } from '../wire/http-messages.ts'
import type { RecordMetric } from './metrics.ts'

/** Sees every call that was answered. */
export type CountCall = (request: AwsRequest, answer: Answer) => void

/** The quota of KMS that an operation with the keys of the stage counts against (AWS KMS: request quotas). */
const kmsResources: Record<string, string> = {
  Sign: 'CryptographicOperationsRsa',
  Verify: 'CryptographicOperationsRsa',
  GenerateMac: 'CryptographicOperationsSymmetric',
  Encrypt: 'CryptographicOperationsSymmetric',
  Decrypt: 'CryptographicOperationsSymmetric',
}

/** Counts the calls that AWS services count: those of KMS, and what DynamoDB throttles or refuses. */
export const countCalls =
  (record: RecordMetric): CountCall =>
  ({ target: { service, operation }, body }, answer) => {
    const Resource = service === 'TrentService' ? kmsResources[operation] : undefined
    if (Resource !== undefined) {
      const dimensions = { Service: 'KMS', Type: 'API', Resource, Class: 'None' }
      record({ namespace: 'AWS/Usage', name: 'CallCount', dimensions }, 1)
    }
    if (!service.startsWith('DynamoDB') || answer.status !== 400) return
    for (const { name, table } of listRefusals(operation, body, answer))
      record({ namespace: 'AWS/DynamoDB', name, dimensions: { TableName: table } }, 1)
  }

const Refusal = v.object({
  __type: v.optional(v.string(), ''),
  CancellationReasons: v.optional(v.array(v.object({ Code: v.optional(v.string()) })), []),
})
const Named = v.object({
  TableName: v.optional(v.string()),
  RequestItems: v.optional(v.record(v.string(), v.unknown()), {}),
})

/** Lists what DynamoDB counts for a refused call: of a transaction, each item that was refused. */
function listRefusals(operation: string, body: Buffer, answer: Answer): { name: string; table: string }[] {
  const { __type: type, CancellationReasons: reasons } = v.parse(Refusal, parseJson(Buffer.from(answer.body)))
  const nameOf = (code: string) => {
    if (/Thrott|ThroughputExceeded/.test(code))
      return readOperations.has(operation) ? 'ReadThrottleEvents' : 'WriteThrottleEvents'
    return code.startsWith('TransactionConflict') ? 'TransactionConflict' : undefined
  }
  if (reasons.length > 0) {
    const items = listWrittenItems(operation, parseJson(body))
    return items.flatMap(({ table }, index) => {
      const name = nameOf(reasons[index]?.Code ?? '')
      return name === undefined ? [] : [{ name, table }]
    })
  }
  const name = nameOf(type.split('#').at(-1) ?? '')
  if (name === undefined) return []
  const { TableName = [], RequestItems } = v.parse(Named, parseJson(body))
  return [TableName, Object.keys(RequestItems)].flat().map((table) => ({ name, table }))
}

const readOperations = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems'])

import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { requireEnv } from '../env.ts'
import { countUnits } from './consumed-units.ts'

/**
 * The client of the service's one table. Numbers are read as decimal text (`NumberValue`), so that no amount
 * passes through a double. `Integer` and `Decimal` (decimal.ts) convert them.
 */
export const db = awsClient(
  DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions()), {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: true },
  }),
)

// Needs a cast, because the parameter type of countUnits has only some members of the SDK's type.
db.middlewareStack.add(countUnits as never, { step: 'initialize' })

/** Name of the service's DynamoDB table. */
export const tableName = (): string => requireEnv('TABLE_NAME')

/** An item of the table as the DynamoDB document client reads and writes it. */
export type Item = Record<string, unknown>

/** Primary key of an item. The file that declares a kind of item also defines the form of its keys. */
export const Key = v.object({ pk: v.string(), sk: v.string() })
export type Key = v.InferOutput<typeof Key>

/** Schema of a number that `db` has read. Its `value` is the decimal text. */
export const TableNumber = v.custom<{ value: string }>(
  (value) =>
    typeof value === 'object' && value !== null && typeof (value as { value?: unknown }).value === 'string',
  'must be a number of the table',
)

/** Schema of a whole number as stored: an instant, a count or a user id. */
export const Integer = v.pipe(
  TableNumber,
  v.transform(({ value }) => Number(value)),
  v.safeInteger(),
)

/**
 * Value of the `ttl` attribute, in epoch seconds: one day after `expiresAt` (epoch milliseconds). TTL
 * deletes items late. Code that depends on the expiry must check it.
 */
export const ttlAfter = (expiresAt: number): number => Math.ceil(expiresAt / 1000) + 86_400

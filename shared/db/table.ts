import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, NumberValue } from '@aws-sdk/lib-dynamodb'
import Big from 'big.js'
import * as v from 'valibot'
import { clientOptions } from '../aws/client-options.ts'
import { requireEnv } from '../env.ts'
import { countUnits } from './consumed-units.ts'

/**
 * The one table. Numbers come out as `NumberValue`, the decimal text that DynamoDB holds, so that no amount passes
 * through a double; `Integer` and `Decimal` below turn them into what the code works with.
 */
export const db = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions()), {
  marshallOptions: { removeUndefinedValues: true },
  unmarshallOptions: { wrapNumbers: true },
})

// It names as much of the SDK's types as it needs, which the SDK's own overloads do not recognise.
db.middlewareStack.add(countUnits as never, { step: 'initialize' })

/** Name of the table. */
export const tableName = (): string => requireEnv('TABLE_NAME')

/** An item as the document client reads and writes it. */
export type Item = Record<string, unknown>

/** Primary key of an item; spelled only by the file that owns the entity. */
export interface Key {
  pk: string
  sk: string
}

const TableNumber = v.custom<{ value: string }>(
  (value) =>
    typeof value === 'object' && value !== null && typeof (value as { value?: unknown }).value === 'string',
  'must be a number of the table',
)

/** A whole number in the table: instants, counts, user ids. */
export const Integer = v.pipe(
  TableNumber,
  v.transform(({ value }) => Number(value)),
  v.safeInteger(),
)

/** An exact decimal in the table. */
export const Decimal = v.pipe(
  TableNumber,
  v.transform(({ value }) => new Big(value)),
)

/** An exact decimal on its way into the table. */
export const toNumberValue = (amount: Big): NumberValue => NumberValue.from(amount.toFixed())

/** Epoch seconds for the `ttl` attribute, a day after expiry: expiry itself is checked by timestamp, the TTL only tidies. */
export const ttlAfter = (expiresAt: number): number => Math.ceil(expiresAt / 1000) + 86_400

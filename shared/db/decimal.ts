import { NumberValue } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { Big } from '../money.ts'
import { TableNumber } from './table.ts'

/** Schema of an exact decimal as stored. */
export const Decimal = v.pipe(
  TableNumber,
  v.transform(({ value }) => new Big(value)),
)

/** Converts an exact decimal to the SDK's `NumberValue`, so that it is stored with all its digits. */
export const toNumberValue = (amount: Big): NumberValue => NumberValue.from(amount.toFixed())

import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { Item } from '../../shared/db/table.ts'

/** An item as a read returns it after it was written: with its numbers as decimal text. */
export const asStored = <Written extends Item>(item: Written): Written =>
  unmarshall(marshall(item, { removeUndefinedValues: true }), { wrapNumbers: true }) as Written

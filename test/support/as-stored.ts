import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { Item } from '../../shared/db/table.ts'

/** Converts an item to the form in which a read would return it, with its numbers as decimal text. */
export const asStored = <Written extends Item>(item: Written): Written =>
  unmarshall(marshall(item, { removeUndefinedValues: true }), { wrapNumbers: true }) as Written

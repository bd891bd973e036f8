import { marshall } from '@aws-sdk/util-dynamodb'
import { db } from '../../../shared/db/table.ts'
import { billedWriteUnits } from '../../support/billed-units.ts'

interface Member {
  Put?: { Item: Record<string, unknown> }
}
type Input = NonNullable<Member['Put']> & { TransactItems?: Member[]; UpdateExpression?: string }

/** Units of one put; of the table's index none, as no entry of it changes. */
function unitsOfPut(item: Record<string, unknown>, inTransaction: boolean): number {
  const stored = marshall(item, { removeUndefinedValues: true })
  return billedWriteUnits({ before: stored, after: stored }, inTransaction)
}

/** Adds up the write units of an operation as AWS bills them. An update here is one of a small item. */
export async function countWriteUnits(run: () => Promise<unknown>): Promise<number> {
  const target = db as unknown as { send: (command: { input: Partial<Input> }) => Promise<object> }
  const original = target.send
  let units = 0
  target.send = async (command) => {
    const { TransactItems = [], Item, UpdateExpression } = command.input
    for (const { Put } of TransactItems) units += Put === undefined ? 2 : unitsOfPut(Put.Item, true)
    if (Item !== undefined) units += unitsOfPut(Item, false)
    if (UpdateExpression !== undefined) units += 1
    return original.call(db, command)
  }
  try {
    await run()
  } finally {
    target.send = original
  }
  return units
}

import { db } from '../../../shared/db/table.ts'

/** What something cost: rounds of calls one after another, read and write units, and milliseconds. */
export interface Cost {
  rounds: number
  readUnits: number
  writeUnits: number
  milliseconds: number
}

type Send = (command: { input: object; constructor: { name: string } }) => Promise<object>

/** Runs something and adds up what DynamoDB says that it cost. */
export async function measure<T>(run: () => Promise<T>): Promise<{ result: T; cost: Cost }> {
  const cost: Cost = { rounds: 0, readUnits: 0, writeUnits: 0, milliseconds: 0 }
  const target = db as unknown as { send: Send }
  const original = target.send
  let pending = 0
  target.send = async (command) => {
    if (pending === 0) cost.rounds += 1
    pending += 1
    Object.assign(command.input, { ReturnConsumedCapacity: 'TOTAL' })
    try {
      const output = await original.call(db, command)
      const { ConsumedCapacity } = output as { ConsumedCapacity?: object | object[] }
      const units = [ConsumedCapacity ?? []]
        .flat()
        .reduce((sum, part) => sum + ((part as { CapacityUnits?: number }).CapacityUnits ?? 0), 0)
      if (/Put|Update|Delete|Write/.test(command.constructor.name)) cost.writeUnits += units
      else cost.readUnits += units
      return output
    } finally {
      pending -= 1
    }
  }
  const started = performance.now()
  try {
    return { result: await run(), cost }
  } finally {
    cost.milliseconds = Math.round(performance.now() - started)
    target.send = original
  }
}

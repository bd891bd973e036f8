import { consumedUnits, resetConsumedUnits } from '../../../shared/db/consumed-units.ts'
import { db } from '../../../shared/db/table.ts'

/** The cost of an operation: sequential rounds of calls, read and write units, time and processor time. */
export interface Cost {
  rounds: number
  readUnits: number
  writeUnits: number
  milliseconds: number
  cpuMilliseconds: number
}

type Send = (command: object) => Promise<object>

/** Runs an operation and measures its rounds of calls, its time and the units that DynamoDB reports. */
export async function measure<T>(run: () => Promise<T>): Promise<{ result: T; cost: Cost }> {
  const cost: Cost = { rounds: 0, readUnits: 0, writeUnits: 0, milliseconds: 0, cpuMilliseconds: 0 }
  const target = db as unknown as { send: Send }
  const original = target.send
  let pending = 0
  target.send = async (command) => {
    if (pending === 0) cost.rounds += 1
    pending += 1
    try {
      return await original.call(db, command)
    } finally {
      pending -= 1
    }
  }
  resetConsumedUnits()
  const started = performance.now()
  const before = process.cpuUsage()
  try {
    return { result: await run(), cost }
  } finally {
    const { read_units: readUnits, write_units: writeUnits } = consumedUnits()
    Object.assign(cost, { readUnits, writeUnits })
    cost.milliseconds = Math.round(performance.now() - started)
    const { user, system } = process.cpuUsage(before)
    cost.cpuMilliseconds = (user + system) / 1000
    target.send = original
  }
}

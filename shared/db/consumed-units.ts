/**
 * DynamoDB request units that the current request or batch has consumed. DynamoDB also charges for failed
 * calls, but does not report their units.
 */
const units = { read_units: 0, write_units: 0 }

/** The DynamoDB units consumed since resetConsumedUnits, for the log line of the request or batch. */
export const consumedUnits = () => ({ ...units })

/**
 * Resets the units for a new request or batch. One counter is enough: a function handles one request or batch
 * at a time.
 */
export function resetConsumedUnits(): void {
  units.read_units = units.write_units = 0
}

interface Call {
  input: object
}
interface Answer {
  output: { ConsumedCapacity?: Capacity | Capacity[] }
}
interface Capacity {
  CapacityUnits?: number
}

/** SDK middleware that requests the consumed capacity with every DynamoDB call and adds it up. */
export const countUnits =
  (next: (call: Call) => Promise<Answer>, { commandName = '' }: { commandName?: string }) =>
  async (call: Call): Promise<Answer> => {
    const answer = await next({ ...call, input: { ...call.input, ReturnConsumedCapacity: 'TOTAL' } })
    const kind = /Get|Query|Scan/.test(commandName) ? 'read_units' : 'write_units'
    for (const { CapacityUnits = 0 } of [answer.output.ConsumedCapacity ?? []].flat())
      units[kind] += CapacityUnits
    return answer
  }

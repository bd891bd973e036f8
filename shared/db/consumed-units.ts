/** What DynamoDB charges for the work at hand, in request units; calls that failed are charged and not told of. */
const units = { read_units: 0, write_units: 0 }

/** The units that were consumed since the work at hand began, for its line in the log. */
export const consumedUnits = () => ({ ...units })

/** Begins a new piece of work. A function does one at a time, so one count a function is enough. */
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

/** Middleware of the SDK that has every call tell its units, and counts them. */
export const countUnits =
  (next: (call: Call) => Promise<Answer>, { commandName = '' }: { commandName?: string }) =>
  async (call: Call): Promise<Answer> => {
    const answer = await next({ ...call, input: { ...call.input, ReturnConsumedCapacity: 'TOTAL' } })
    const kind = /Get|Query|Scan/.test(commandName) ? 'read_units' : 'write_units'
    for (const { CapacityUnits = 0 } of [answer.output.ConsumedCapacity ?? []].flat())
      units[kind] += CapacityUnits
    return answer
  }

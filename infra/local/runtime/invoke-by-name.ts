import type { Invoke } from '../aws/lambda/invoke.ts'
import type { InvokeFunction } from '../invocation.ts'
import type { FunctionModel } from '../model.ts'

/** How long Lambda waits before it runs a function again that failed asynchronously, in milliseconds: two retries. */
const retryDelays = [60_000, 120_000]

/**
 * Lambda's Invoke over the runtime: `RequestResponse` waits for the answer, `Event` returns at once and runs a
 * function that fails, or that is throttled, again as Lambda does. `report` hears of one that is given up.
 */
export function createInvokeByName(
  functions: FunctionModel[],
  invoke: InvokeFunction,
  report: (problem: string) => void,
): Invoke {
  const runInBackground = async (model: FunctionModel, payload: string, delays: number[]): Promise<void> => {
    const problem = await invoke(model.logicalId, payload).then(
      ({ functionError }) => functionError,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    if (problem === undefined) return
    const [delay, ...later] = delays
    if (delay === undefined)
      return report(`${model.name} failed asynchronously ${retryDelays.length + 1} times: ${problem}`)
    setTimeout(() => void runInBackground(model, payload, later), delay).unref()
  }

  return async (functionName, bytes, type) => {
    const model = functions.find(({ name }) => name === functionName)
    if (model === undefined) throw new Error(`there is no function ${functionName}`)
    const payload = Buffer.from(bytes).toString()
    if (type === 'Event') {
      void runInBackground(model, payload, retryDelays)
      return { payload: Buffer.alloc(0), executedVersion: '$LATEST' }
    }
    const result = await invoke(model.logicalId, payload)
    return {
      payload: Buffer.from(result.payload),
      executedVersion: '$LATEST',
      logTail: result.logTail,
      ...(result.functionError === undefined ? {} : { functionError: result.functionError }),
    }
  }
}

import type { Invoke } from '../aws/server.ts'
import type { FunctionModel } from '../model.ts'
import type { InvokeFunction } from './runtime.ts'

/** Lambda's delays before the two retries of a failed asynchronous invocation. */
const retryDelaysMilliseconds = [60_000, 120_000]

/**
 * Creates Lambda's Invoke: `RequestResponse` waits for the result; `Event` returns at once, and retries a
 * failed or throttled run. `report` gets a line about a run that failed every time.
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
      return report(
        `${model.name} failed asynchronously ${retryDelaysMilliseconds.length + 1} times: ${problem}`,
      )
    setTimeout(() => void runInBackground(model, payload, later), delay).unref()
  }

  return async (functionName, bytes, type, endAfterMilliseconds) => {
    const model = functions.find(({ name }) => name === functionName)
    if (model === undefined) throw new Error(`there is no function ${functionName}`)
    const payload = Buffer.from(bytes).toString()
    if (type === 'Event') {
      void runInBackground(model, payload, retryDelaysMilliseconds)
      return { payload: Buffer.alloc(0), executedVersion: '$LATEST' }
    }
    const { functionError, logTail, ...result } = await invoke(model.logicalId, payload, endAfterMilliseconds)
    return {
      payload: Buffer.from(result.payload),
      executedVersion: '$LATEST',
      logTail,
      ...(functionError === undefined ? {} : { functionError }),
    }
  }
}

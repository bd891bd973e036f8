import type { Invoke } from '../aws/server.ts'
import type { FunctionModel } from '../model.ts'
import type { InvokeFunction } from './runtime.ts'

/**
 * Creates Lambda's Invoke: `RequestResponse` waits for the result; `Event` returns at once, and `report` gets
 * a line about a run that failed. It is not retried, as the template wants it for scheduled functions.
 */
export function createInvokeByName(
  functions: FunctionModel[],
  invoke: InvokeFunction,
  report: (problem: string) => void,
): Invoke {
  const runInBackground = async (model: FunctionModel, payload: string): Promise<void> => {
    const problem = await invoke(model.logicalId, payload).then(
      ({ functionError }) => functionError,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    if (problem !== undefined) report(`${model.name} failed asynchronously: ${problem}`)
  }

  return async (functionName, bytes, type, endAfterMilliseconds) => {
    const model = functions.find(({ name }) => name === functionName)
    if (model === undefined) throw new Error(`there is no function ${functionName}`)
    const payload = Buffer.from(bytes).toString()
    if (type === 'Event') {
      void runInBackground(model, payload)
      return { payload: Buffer.alloc(0) }
    }
    const result = await invoke(model.logicalId, payload, endAfterMilliseconds)
    const { functionError } = result
    return { payload: Buffer.from(result.payload), ...(functionError && { functionError }) }
  }
}

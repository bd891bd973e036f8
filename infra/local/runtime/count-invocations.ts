import type { RecordMetric } from '../aws/cloudwatch/metrics.ts'
import type { FunctionModel } from '../model.ts'
import { type InvokeFunction, TooManyRequestsError } from './runtime.ts'

/**
 * Counts the runs of functions as Lambda does (Lambda: types of metrics for functions); those through an
 * alias for the version that ran, too.
 */
export function countInvocations(
  functions: readonly FunctionModel[],
  invoke: InvokeFunction,
  record: RecordMetric,
): InvokeFunction {
  const models = new Map(functions.map((model) => [model.logicalId, model]))
  /** Number of calls that are under way, by the function's name. */
  const running = new Map<string, number>()
  return async (functionLogicalId, ...rest) => {
    const { name: FunctionName, alias } = models.get(functionLogicalId) ?? {}
    if (FunctionName === undefined) return invoke(functionLogicalId, ...rest)
    const at = Date.now()
    const put = (name: string, value: number) =>
      record({ namespace: 'AWS/Lambda', name, dimensions: { FunctionName } }, value, at)
    const add = (calls: number) => running.set(FunctionName, (running.get(FunctionName) ?? 0) + calls)
    put('ConcurrentExecutions', add(1).get(FunctionName) ?? 0)
    const claimed = [...running.values()].reduce((sum, calls) => sum + calls, 0)
    record({ namespace: 'AWS/Lambda', name: 'ClaimedAccountConcurrency', dimensions: {} }, claimed, at)
    try {
      const result = await invoke(functionLogicalId, ...rest)
      const ran = { Invocations: 1, Errors: Number(result.functionError !== undefined) }
      for (const [name, value] of Object.entries(ran)) {
        put(name, value)
        if (alias === undefined) continue
        const version = { Resource: `${FunctionName}:${alias.name}`, ExecutedVersion: result.executedVersion }
        record({ namespace: 'AWS/Lambda', name, dimensions: { FunctionName, ...version } }, value, at)
      }
      put('Throttles', 0)
      return result
    } catch (error) {
      if (error instanceof TooManyRequestsError) put('Throttles', 1)
      throw error
    } finally {
      add(-1)
    }
  }
}

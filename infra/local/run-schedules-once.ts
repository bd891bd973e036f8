import type { InvokeFunction } from './runtime/runtime.ts'
import type { StackModel } from './model.ts'
import { StartupError } from './startup-error.ts'

/**
 * Runs every function of a `rate(...)` schedule once and waits for it. EventBridge lets a new rule wait for up to its
 * period, which a person who has just started the stack should not: the first signing key comes from the clock.
 */
export async function runSchedulesOnce(model: StackModel, invoke: InvokeFunction): Promise<void> {
  const rules = model.rules.filter(({ enabled, schedule }) => enabled && schedule?.startsWith('rate('))
  await Promise.all(
    rules
      .flatMap(({ targets }) => targets)
      .map(async ({ arn, input = '{}' }) => {
        const scheduled = model.functions.find((candidate) => candidate.arn === arn)
        if (scheduled === undefined) return
        const { functionError } = await invoke(scheduled.logicalId, input)
        if (functionError !== undefined) {
          throw new StartupError(`the scheduled function ${scheduled.name} failed: see the functions' log`)
        }
      }),
  )
}

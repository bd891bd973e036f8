import { setTimeout as wait } from 'node:timers/promises'
import type { StackModel } from './model.ts'
import { type InvokeFunction, TooManyRequestsError } from './runtime/runtime.ts'
import { refuse } from './startup-error.ts'

/** How often a scheduled function is called until a call succeeds, and the pause between two calls. */
const maxCalls = 20
const pauseMilliseconds = 3_000

/**
 * Runs every function with a `rate(...)` schedule once at the start, because the local stack needs its first
 * signing key at once. On AWS, the first run of a new schedule comes later, after at most one period. A call
 * that fails is repeated, as the clock would repeat it: after a crash, DynamoDB Local may be too busy with
 * the events that wait in the queues. Throws a `StartupError` if no call succeeds.
 */
export async function runSchedulesOnce(
  { rules, functions }: Pick<StackModel, 'rules' | 'functions'>,
  invoke: InvokeFunction,
  showLine: (line: string) => void,
  pause = pauseMilliseconds,
): Promise<void> {
  const targets = rules
    .filter(({ enabled, schedule }) => enabled && schedule?.startsWith('rate('))
    .flatMap((rule) => rule.targets)
  await Promise.all(
    targets.map(async ({ arn, input = '{}' }) => {
      const scheduled = functions.find((item) => item.arn === arn)
      if (scheduled === undefined) return
      const succeeds = () => invoke(scheduled.name, input).then(isSuccess, requireBusy)
      for (let call = 1; !(await succeeds()); call += 1) {
        if (call === maxCalls)
          refuse(`the scheduled function ${scheduled.name} failed ${maxCalls} times: see the functions' log`)
        if (call === 1) showLine(`waiting for ${scheduled.name}, which failed and is called again ...`)
        await wait(pause)
      }
    }),
  )
}

const isSuccess = ({ functionError }: Awaited<ReturnType<InvokeFunction>>): boolean =>
  functionError === undefined

/** Counts a call that the runtime could not take as a failed one. Throws any other error. */
function requireBusy(error: unknown): false {
  if (error instanceof TooManyRequestsError) return false
  throw error
}

import type { FunctionModel } from '../../../infra/local/model.ts'
import { makeCalls, type Scenario } from '../../infra/grants/calls.ts'
import { FunctionProcess, toInvocation } from './function-process.ts'
import type { RecordedAnswer } from './recorder.ts'
import type { BenchStack } from './start-bench-stack.ts'

/** An event of a function, and what AWS answered to its calls, so that it can be repeated without AWS. */
export interface RecordedEvent {
  model: FunctionModel
  event: string
  answers: RecordedAnswer[]
}

/** Runs a scenario, and records its first call or a later one. */
export async function recordEvent(
  stack: BenchStack,
  of: string,
  scenario: Scenario,
  call = 0,
): Promise<RecordedEvent> {
  const model = stack.functions.find(({ name }) => name === of)
  if (model === undefined) throw new Error(`there is no function ${of}`)
  const environment = new FunctionProcess(stack.describe(model))
  const recorded: RecordedEvent[] = []
  const calls = makeCalls(async (event) => {
    // The calls of the function's init are none of the event's.
    await environment.evaluated
    stack.recorder.take()
    const answer = await environment.run(event)
    recorded.push({ model, event, answers: stack.recorder.take().answers })
    return toInvocation(answer)
  })
  try {
    await scenario(calls)
  } finally {
    await environment.end()
  }
  const wanted = recorded[call]
  if (wanted === undefined) throw new Error(`the scenario of ${of} makes fewer calls`)
  return wanted
}

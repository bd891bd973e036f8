import { expect, it } from 'vitest'
import { runSchedulesOnce } from '../../../infra/local/run-schedules.ts'
import { TooManyRequestsError } from '../../../infra/local/runtime/runtime.ts'
import { describeFunction } from './fixture/models.ts'

const scheduled = describeFunction('probe.echo')
const rule = { enabled: true, schedule: 'rate(1 minute)', targets: [{ arn: scheduled.arn }] }
const model = { functions: [scheduled], rules: [rule] } as unknown as Parameters<typeof runSchedulesOnce>[0]
const failed = { payload: 'null', functionError: 'Unhandled' as const }

/** Runs the schedules of a function that answers as in the list, and then always as the last one. */
async function run(answers: (object | Error)[]) {
  const lines: string[] = []
  let calls = 0
  const invoke = async () => {
    const answer = answers[Math.min(calls, answers.length - 1)]
    calls += 1
    if (answer instanceof Error) throw answer
    return answer as typeof failed
  }
  const error: unknown = await runSchedulesOnce(model, invoke, (line) => lines.push(line), 0).catch(
    (thrown: unknown) => thrown,
  )
  return { lines, calls, error }
}

it('a scheduled function that fails at the start is called again, as the start tells', async () => {
  const busy = new TooManyRequestsError('busy')
  expect(await run([failed, busy, failed, { payload: 'null' }])).toEqual({
    lines: ['waiting for probe-echo, which failed and is called again ...'],
    calls: 4,
    error: undefined,
  })
})

it('a start says nothing of a scheduled function that succeeds at once', async () => {
  expect(await run([{ payload: 'null' }])).toEqual({ lines: [], calls: 1, error: undefined })
})

it('a scheduled function that always fails ends the start with one line', async () => {
  const { calls, error } = await run([failed])
  expect(calls).toBe(20)
  expect(String(error)).toBe(
    "StartupError: the scheduled function probe-echo failed 20 times: see the functions' log",
  )
})

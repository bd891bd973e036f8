import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import type { FunctionModel } from '../../../../infra/local/model.ts'
import { composeEnvironment } from '../../../../infra/local/runtime/function-environment.ts'
import { Runtime, TooManyRequestsError, type RuntimeLimits } from '../../../../infra/local/runtime/runtime.ts'
import { describeFunction } from '../fixture/models.ts'

let lines: string[] = []
let runtime: Runtime | undefined

const credentials = { accessKeyId: 'AKIDLOCAL', secretAccessKey: 'secret' }

function start(functions: FunctionModel[], limits: Partial<RuntimeLimits> = {}, freezes = false): Runtime {
  lines = []
  runtime = new Runtime({
    functions,
    environmentOf: (model) => composeEnvironment(model, 'us-east-1', 'http://127.0.0.1:4566', credentials),
    log: {
      write: (name, line) => void lines.push(`${name} ${line}`),
    },
    limits,
    freezes,
  })
  return runtime
}

const invoke = async (handler: string, event: unknown = {}) => {
  const result = await runtime?.invoke(handler.replace('.', '-'), JSON.stringify(event))
  return { ...result, answer: JSON.parse(result?.payload ?? 'null') as Record<string, unknown> }
}

afterEach(async () => {
  await runtime?.close()
})

it('a function gets its event, Lambda’s context, and no environment variable of the host', async () => {
  process.env.OF_THE_HOST = 'private'
  start([describeFunction('probe.echo')])
  const { answer, functionError } = await invoke('probe.echo', { hello: 'world' })
  expect(functionError).toBeUndefined()
  expect(answer.event).toEqual({ hello: 'world' })
  expect(answer.context).toMatchObject({
    functionName: 'probe-echo',
    functionVersion: '$LATEST',
    memoryLimitInMB: '256',
    awsRequestId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:probe-echo',
    logGroupName: '/aws/lambda/probe-echo',
  })
  const { remaining } = answer.context as { remaining: number }
  expect(remaining).toBeGreaterThan(3000)
  expect(remaining).toBeLessThanOrEqual(5000)
  expect(answer.environment).toMatchObject({
    TABLE: 'fixture',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKIDLOCAL',
    AWS_SESSION_TOKEN: 'local',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
    AWS_LAMBDA_FUNCTION_NAME: 'probe-echo',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    TZ: 'UTC',
  })
  expect(answer.environment).not.toHaveProperty('OF_THE_HOST')
  expect(answer.environment).not.toHaveProperty('HOME')
})

it.each([
  ['probe.fault', { errorType: 'TypeError', errorMessage: 'broken on purpose' }],
  [
    'probe.exit',
    { errorType: 'Runtime.ExitError', errorMessage: 'Runtime exited with error: exit status 7' },
  ],
  ['broken.handler', { errorType: 'Error', errorMessage: 'cannot be loaded' }],
  ['missing.handler', { errorType: 'Runtime.ImportModuleError' }],
  ['probe.missing', { errorType: 'Runtime.HandlerNotFound' }],
])('the handler %s fails with Lambda’s error object', async (handler, error) => {
  start([describeFunction(handler)])
  const result = await invoke(handler)
  expect(result.functionError).toBe('Unhandled')
  expect(result.answer).toMatchObject(error)
})

it.each(['probe.hang', 'probe.spin'])(
  'the handler %s is stopped at its timeout, and the next call gets a new worker',
  async (handler) => {
    start([describeFunction(handler, { timeoutSeconds: 0.2 })])
    for (const run of ['first', 'second']) {
      const { answer, functionError } = await invoke(handler)
      expect(functionError, run).toBe('Unhandled')
      expect(answer.errorMessage).toMatch(
        /^RequestId: [-0-9a-f]{36} Error: Task timed out after 0\.20 seconds$/,
      )
    }
  },
)

it('if the local stack aborts a call, the caller gets Lambda’s timeout error, and the next call succeeds', async () => {
  const running = start([describeFunction('probe.wait')])
  const event = JSON.stringify({ milliseconds: 3000 })
  const { payload, functionError } = await running.invoke('probe-wait', event, 100)
  expect(functionError).toBe('Unhandled')
  expect(payload).toContain('Task timed out after 5.00 seconds')
  expect((await invoke('probe.wait', { milliseconds: 1 })).functionError).toBeUndefined()
})

it('a call succeeds when its worker answers in time, though the answer is read late', async () => {
  start([describeFunction('probe.wait', { timeoutSeconds: 0.5 })])
  await invoke('probe.wait', { milliseconds: 1 })
  const answer = invoke('probe.wait', { milliseconds: 100 })
  await pause(20)
  // Blocks the main thread for longer than the timeout, so that the timeout fires before the answer is read.
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700))
  expect((await answer).functionError).toBeUndefined()
})

it('a timer that a call leaves running does not fire between calls, only during the worker’s next call', async () => {
  start([describeFunction('probe.tick')], {}, true)
  const first = (await invoke('probe.tick')).answer.ticks as number
  await pause(500)
  const second = (await invoke('probe.tick')).answer.ticks as number
  expect(first).toBeGreaterThan(0)
  expect(second).toBeGreaterThan(first)
  expect(second).toBeLessThan(200)
})

it('a worker that gets a call right after its previous one does not freeze in it', async () => {
  start([describeFunction('probe.wait')], { maxWorkersPerFunction: 1 }, true)
  const calls = Array.from({ length: 50 }, () => invoke('probe.wait', { milliseconds: 5 }))
  for (const { functionError } of await Promise.all(calls)) expect(functionError).toBeUndefined()
})

// A frozen worker is ended when it has been idle for too long.
it('a worker writes all its log lines before it freezes', async () => {
  const running = start([describeFunction('probe.tick')], { maxIdleMilliseconds: 200 }, true)
  await invoke('probe.tick')
  await expect.poll(() => lines.filter((line) => line.includes('last line'))).toHaveLength(1)
  await expect.poll(() => running.countWorkers()).toEqual({ 'probe-tick': 0 })
})

it('three workers answer a hundred concurrent calls, and no worker runs two calls at a time', async () => {
  const running = start([describeFunction('probe.wait')], { maxWorkersPerFunction: 3 })
  const results = await Promise.all(
    Array.from({ length: 100 }, () => invoke('probe.wait', { milliseconds: 2 })),
  )
  expect(running.countWorkers()).toEqual({ 'probe-wait': 3 })
  const seen = new Map<unknown, number[]>()
  for (const { answer } of results)
    seen.set(answer.instance, [...(seen.get(answer.instance) ?? []), answer.runs as number])
  expect(seen.size).toBe(3)
  // If a worker ran two calls at a time, both would return the same count.
  for (const runs of seen.values()) expect(new Set(runs).size).toBe(runs.length)
})

it('a function without a worker gets the next free place, before older calls to others', async () => {
  start([describeFunction('probe.wait'), describeFunction('probe.echo')], { maxWorkers: 1 })
  const busy = Array.from({ length: 20 }, () => invoke('probe.wait', { milliseconds: 20 }))
  const order: string[] = []
  await Promise.all([
    invoke('probe.echo').then(() => order.push('echo')),
    Promise.all(busy).then(() => order.push('wait')),
  ])
  expect(order).toEqual(['echo', 'wait'])
})

it('a function refuses a call when too many calls wait for a worker', async () => {
  start([describeFunction('probe.wait')], { maxWorkersPerFunction: 1, maxWaitingPerFunction: 2 })
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => invoke('probe.wait')))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(2)
  for (const { reason } of refused) expect(reason).toBeInstanceOf(TooManyRequestsError)
})

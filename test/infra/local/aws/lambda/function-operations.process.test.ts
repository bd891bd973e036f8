import { InvokeCommand, ListFunctionsCommand } from '@aws-sdk/client-lambda'
import { expect, test } from 'vitest'
import type { Invoke } from '../../../../../infra/local/aws/server.ts'
import { accountId, arnOf, functionModel, stackModel, startStack } from '../stack.ts'

const target = functionModel('rotate')
const invokes = functionModel('caller', [
  { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: target.arn },
])

async function startFunctions(invoke: Invoke) {
  return startStack(stackModel({ functions: [target, invokes, functionModel('stranger')] }), { invoke })
}

test('a function can be invoked by its name and by every form of its ARN', async () => {
  const calls: unknown[] = []
  const { lambda } = await startFunctions(async (name, payload, type) => {
    calls.push([name, Buffer.from(payload).toString(), type])
    return { payload: Buffer.from('{"done":true}'), executedVersion: '$LATEST', logTail: 'END' }
  })
  const forms = ['rotate', target.arn, `${target.arn}:$LATEST`, `${accountId}:function:rotate`, 'rotate:live']
  for (const FunctionName of forms) {
    const answer = await lambda.send(
      new InvokeCommand({ FunctionName, Payload: Buffer.from('{"a":1}'), LogType: 'Tail' }),
    )
    expect(Buffer.from(answer.Payload ?? []).toString()).toBe('{"done":true}')
    expect(answer).toMatchObject({
      StatusCode: 200,
      ExecutedVersion: '$LATEST',
      LogResult: Buffer.from('END').toString('base64'),
    })
  }
  expect(calls).toEqual(forms.map(() => ['rotate', '{"a":1}', 'RequestResponse']))
})

test('an error of the function is answered with its payload and marked in the header', async () => {
  const { lambda } = await startFunctions(async () => ({
    payload: Buffer.from('{"errorType":"Error"}'),
    functionError: 'Unhandled',
    executedVersion: '$LATEST',
  }))
  const answer = await lambda.send(new InvokeCommand({ FunctionName: 'rotate' }))
  expect(answer).toMatchObject({ StatusCode: 200, FunctionError: 'Unhandled' })
})

test('an event is accepted at once, a dry run invokes nothing', async () => {
  const types: string[] = []
  const { lambda } = await startFunctions(async (_name, payload, type) => {
    types.push(type)
    return { payload, executedVersion: '$LATEST' }
  })
  const invoke = async (InvocationType: 'Event' | 'DryRun') =>
    (await lambda.send(new InvokeCommand({ FunctionName: 'rotate', InvocationType }))).StatusCode
  expect(await invoke('Event')).toBe(202)
  expect(await invoke('DryRun')).toBe(204)
  expect(types).toEqual(['Event'])
})

test('an invocation that is impossible or not permitted fails with the name of AWS', async () => {
  const { lambda, as } = await startFunctions(async (_name, payload) => ({
    payload,
    executedVersion: '$LATEST',
  }))
  const refused = [
    [{ FunctionName: 'none' }, 'ResourceNotFoundException'],
    [{ FunctionName: 'rotate', Payload: Buffer.from('no json') }, 'InvalidRequestContentException'],
    [
      { FunctionName: 'rotate', Payload: Buffer.from(`"${'x'.repeat(6_291_556)}"`) },
      'RequestTooLargeException',
    ],
  ] as const
  for (const [input, name] of refused)
    await expect(lambda.send(new InvokeCommand(input)), name).rejects.toMatchObject({ name })
  await as('caller').lambda.send(new InvokeCommand({ FunctionName: 'rotate' }))
  await expect(
    as('stranger').lambda.send(new InvokeCommand({ FunctionName: 'rotate' })),
  ).rejects.toMatchObject({
    name: 'AccessDeniedException',
    $metadata: { httpStatusCode: 403 },
  })
})

test('functions are listed with their timeout and memory', async () => {
  const { lambda } = await startFunctions(async (_name, payload) => ({ payload, executedVersion: '$LATEST' }))
  const { Functions } = await lambda.send(new ListFunctionsCommand())
  expect(Functions?.map(({ FunctionName }) => FunctionName)).toEqual(['rotate', 'caller', 'stranger'])
  expect(Functions?.[0]).toMatchObject({
    FunctionArn: arnOf('lambda', 'function:rotate'),
    Timeout: 3,
    MemorySize: 256,
  })
})

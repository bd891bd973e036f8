import { InvokeCommand } from '@aws-sdk/client-lambda'
import { expect, test } from 'vitest'
import type { Invoke } from '../../../../../infra/local/aws/server.ts'
import { accountId, functionModel, stackModel, startStack } from '../stack.ts'

const target = functionModel('rotate')
const invokes = functionModel('caller', [
  { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: target.arn },
])

async function startFunctions(invoke: Invoke) {
  return startStack(stackModel({ functions: [target, invokes, functionModel('stranger')] }), { invoke })
}

test('Lambda Invoke accepts a function’s name and every form of its ARN', async () => {
  const calls: unknown[] = []
  const { lambda } = await startFunctions(async (name, payload) => {
    calls.push([name, payload])
    return { payload: '{"done":true}' }
  })
  const forms = ['rotate', target.arn, `${target.arn}:$LATEST`, `${accountId}:function:rotate`, 'rotate:live']
  for (const FunctionName of forms) {
    const answer = await lambda.send(new InvokeCommand({ FunctionName, Payload: Buffer.from('{"a":1}') }))
    expect(Buffer.from(answer.Payload ?? []).toString()).toBe('{"done":true}')
    expect(answer).toMatchObject({
      StatusCode: 200,
      ExecutedVersion: '$LATEST',
    })
  }
  expect(calls).toEqual(forms.map(() => ['rotate', '{"a":1}']))
})

test('Lambda Invoke answers a function’s error with its payload and the header for FunctionError', async () => {
  const { lambda } = await startFunctions(async () => ({
    payload: '{"errorType":"Error"}',
    functionError: 'Unhandled',
  }))
  const answer = await lambda.send(new InvokeCommand({ FunctionName: 'rotate' }))
  expect(answer).toMatchObject({ StatusCode: 200, FunctionError: 'Unhandled' })
})

test('Lambda Invoke waits for the function that it calls with an Event', async () => {
  const { lambda } = await startFunctions(() => new Promise(() => undefined))
  const { StatusCode } = await lambda.send(
    new InvokeCommand({ FunctionName: 'rotate', InvocationType: 'Event' }),
  )
  expect(StatusCode).toBe(202)
})

test('Lambda Invoke rejects an invalid or denied request with the exception name that AWS uses', async () => {
  const { lambda, as } = await startFunctions(async (_name, payload) => ({
    payload,
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

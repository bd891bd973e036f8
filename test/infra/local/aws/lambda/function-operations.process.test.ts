import { InvokeCommand } from '@aws-sdk/client-lambda'
import { expect, test } from 'vitest'
import { functionModel, stackModel, startStack } from '../stack.ts'

const target = functionModel('rotate')
const invokes = functionModel('caller', [
  { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: target.arn },
])

test('Lambda Invoke rejects an invalid or denied request with the exception name that AWS uses', async () => {
  const { lambda, as } = await startStack(
    stackModel({ functions: [target, invokes, functionModel('stranger')] }),
  )
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

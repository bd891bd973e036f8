import {
  ApiGatewayV2Client,
  GetApisCommand,
  GetStageCommand,
  UpdateStageCommand,
} from '@aws-sdk/client-apigatewayv2'
import { expect, test } from 'vitest'
import { functionModel, region, stackModel, startStack } from '../stack.ts'

const StageName = '$default'
const stage = `arn:aws:apigateway:${region}::/apis/local/stages/${StageName}`
const reader = functionModel('reader', [{ Effect: 'Allow', Action: 'apigateway:GET', Resource: stage }])

test('UpdateStage sets a stage variable, and removes it by the empty text', async () => {
  const { endpoint } = await startStack(stackModel({ functions: [reader] }))
  const open = (credentials = { accessKeyId: 'AKIDOWNER', secretAccessKey: 'any' }) =>
    new ApiGatewayV2Client({ endpoint: endpoint.url, region, credentials, maxAttempts: 1 })
  const client = open()
  const { Items } = await client.send(new GetApisCommand())
  expect(Items).toMatchObject([{ ApiId: 'local', Name: 'api' }])
  const update = (StageVariables: Record<string, string>, from = client) =>
    from.send(new UpdateStageCommand({ ApiId: 'local', StageName, StageVariables }))
  const variables = async (from = client) =>
    (await from.send(new GetStageCommand({ ApiId: 'local', StageName }))).StageVariables

  await update({ one: '1', two: '2' })
  await update({ one: '' })
  expect(await variables()).toEqual({ two: '2' })
  expect(endpoint.stageVariables).toEqual({ two: '2' })
  await expect(update({ three: 'not a value' })).rejects.toMatchObject({ name: 'BadRequestException' })
  const asReader = open(endpoint.credentialsFor(reader))
  expect(await variables(asReader)).toEqual({ two: '2' })
  await expect(update({ four: '4' }, asReader)).rejects.toMatchObject({ name: 'AccessDeniedException' })
})

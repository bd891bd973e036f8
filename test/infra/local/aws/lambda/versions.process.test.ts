import { ListVersionsByFunctionCommand, UpdateAliasCommand } from '@aws-sdk/client-lambda'
import { expect, test } from 'vitest'
import { functionModel, stackModel, startStack } from '../stack.ts'

const startFunctions = async () => {
  const [book, list] = [functionModel('book'), functionModel('list')]
  const reloaded: string[] = []
  const started = await startStack(stackModel({ functions: [book, list] }), {
    reload: (functionLogicalId) => void reloaded.push(functionLogicalId),
  })
  const versions = async (FunctionName: string) =>
    (await started.lambda.send(new ListVersionsByFunctionCommand({ FunctionName }))).Versions?.map(
      ({ Version }) => Version,
    )
  const moveTo = (FunctionVersion: string, FunctionName = 'book') =>
    started.lambda.send(new UpdateAliasCommand({ FunctionName, Name: 'live', FunctionVersion }))
  return { ...started, book, list, reloaded, versions, moveTo }
}

test('a deployment publishes a version of each function that it changes, and runs it', async () => {
  const { endpoint, book, list, reloaded, versions } = await startFunctions()
  expect(await versions('book')).toEqual(['$LATEST', '1'])
  endpoint.deploy([{ ...book, environment: { KNOB: 'on' } }, list])
  expect(await versions('book')).toEqual(['$LATEST', '1', '2'])
  expect(await versions('list')).toEqual(['$LATEST', '1'])
  expect(book.environment).toEqual({ KNOB: 'on' })
  expect(reloaded).toEqual([book.logicalId])
})

test('Lambda UpdateAlias moves all calls to another version, and the next deployment moves them on', async () => {
  const { endpoint, book, reloaded, versions, moveTo } = await startFunctions()
  const { codeDirectory } = book
  endpoint.deploy([{ ...book, codeDirectory: '/bad' }])
  expect(book.codeDirectory).toBe('/bad')
  expect(await moveTo('1')).toMatchObject({ Name: 'live', FunctionVersion: '1' })
  expect(book.codeDirectory).toBe(codeDirectory)
  expect(reloaded).toHaveLength(2)
  endpoint.deploy([{ ...book, codeDirectory: '/good' }])
  expect(await versions('book')).toEqual(['$LATEST', '1', '2', '3'])
  expect(book.codeDirectory).toBe('/good')
})

test('Lambda refuses a version or function that does not exist', async () => {
  const { book, versions, moveTo } = await startFunctions()
  await expect(moveTo('2')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  await expect(moveTo('1', 'none')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  await expect(versions('none')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  expect(book.codeDirectory).toBe(functionModel('book').codeDirectory)
})

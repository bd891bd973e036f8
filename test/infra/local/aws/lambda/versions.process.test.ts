import { ListVersionsByFunctionCommand, UpdateAliasCommand } from '@aws-sdk/client-lambda'
import { expect, test } from 'vitest'
import { functionModel, stackModel, startStack } from '../stack.ts'

const startFunctions = async () => {
  const alias = () => ({ name: 'live', version: '1' })
  const [book, list] = ['book', 'list'].map((name) => ({ ...functionModel(name), alias: alias() }))
  const clock = functionModel('clock')
  if (book === undefined || list === undefined) return expect.unreachable()
  const reloaded: string[] = []
  const started = await startStack(stackModel({ functions: [book, list, clock] }), {
    reload: (functionLogicalId) => void reloaded.push(functionLogicalId),
  })
  const versions = async (FunctionName: string) =>
    (await started.lambda.send(new ListVersionsByFunctionCommand({ FunctionName }))).Versions?.map(
      ({ Version }) => Version,
    )
  const moveTo = (FunctionVersion: string, FunctionName = 'book', weights?: Record<string, number>) =>
    started.lambda.send(
      new UpdateAliasCommand({
        FunctionName,
        Name: 'live',
        FunctionVersion,
        ...(weights && { RoutingConfig: { AdditionalVersionWeights: weights } }),
      }),
    )
  return { ...started, book, list, clock, reloaded, versions, moveTo }
}

test('a deployment publishes a version of each function that it changes, and runs it', async () => {
  const { endpoint, book, list, reloaded, versions } = await startFunctions()
  expect(await versions('book')).toEqual(['$LATEST', '1'])
  endpoint.deploy([{ ...book, environment: { KNOB: 'on' } }, list])
  expect(await versions('book')).toEqual(['$LATEST', '1', '2'])
  expect(await versions('list')).toEqual(['$LATEST', '1'])
  expect(book).toMatchObject({ environment: { KNOB: 'on' }, alias: { version: '2' } })
  expect(reloaded).toEqual([book.logicalId])
})

test('a function without an alias has no versions: a deployment changes it, and nothing moves it back', async () => {
  const { endpoint, clock, reloaded, versions, moveTo } = await startFunctions()
  endpoint.deploy([{ ...clock, handler: 'index.other' }])
  expect(clock.handler).toBe('index.other')
  expect(reloaded).toEqual([clock.logicalId])
  expect(await versions('clock')).toEqual(['$LATEST'])
  await expect(moveTo('1', 'clock')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
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

test('Lambda UpdateAlias gives a published version a share of the calls, until it is told otherwise', async () => {
  const { endpoint, book, moveTo } = await startFunctions()
  const { codeDirectory } = book
  expect(endpoint.publish({ ...book, codeDirectory: '/new' })).toBe('2')
  expect(book.alias).toEqual({ name: 'live', version: '1' })
  const shared = { FunctionVersion: '1', RoutingConfig: { AdditionalVersionWeights: { 2: 0.1 } } }
  expect(await moveTo('1', 'book', { 2: 0.1 })).toMatchObject(shared)
  expect(book).toMatchObject({
    codeDirectory,
    alias: {
      version: '1',
      additional: { weight: 0.1, model: { codeDirectory: '/new', alias: { version: '2' } } },
    },
  })
  expect(await moveTo('1')).toMatchObject(shared)
  expect(await moveTo('2', 'book', {})).not.toHaveProperty('RoutingConfig')
  expect(book).toMatchObject({ codeDirectory: '/new', alias: { version: '2' } })
  expect(book.alias).toHaveProperty('additional', undefined)
})

test('Lambda refuses a version or function that does not exist, and more than one additional version', async () => {
  const { book, versions, moveTo } = await startFunctions()
  await expect(moveTo('2')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  await expect(moveTo('1', 'none')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  await expect(versions('none')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  await expect(moveTo('1', 'book', { 2: 0.1 })).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  await expect(moveTo('1', 'book', { 2: 0.1, 3: 0.1 })).rejects.toMatchObject({
    name: 'InvalidParameterValueException',
  })
  expect(book.codeDirectory).toBe(functionModel('book').codeDirectory)
})

import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts'
import { findJava } from '../../../infra/local/dynamodb/java.ts'
import { startDynamodb } from '../../../infra/local/dynamodb/start-dynamodb.ts'
import type { TableModel } from '../../../infra/local/model.ts'

const directory = mkdtempSync(join(tmpdir(), 'dynamodb-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const tableWith = (sortKeyType: 'S' | 'N'): TableModel => ({
  logicalId: 'fixture/Table',
  name: 'fixture',
  arn: 'arn:aws:dynamodb:us-east-1:000000000000:table/fixture',
  createTableInput: {
    TableName: 'fixture',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: sortKeyType },
      { AttributeName: 'gpk', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-gpk',
        KeySchema: [{ AttributeName: 'gpk', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  },
  ttlAttribute: 'ttl',
})

const openClient = (endpoint: string) =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'other', secretAccessKey: 'other' },
  })

const isAnswering = (endpoint: string) =>
  fetch(endpoint, { method: 'POST' }).then(
    () => true,
    () => false,
  )

describe('DynamoDB Local', () => {
  it('keeps its data in a directory, over a restart and for whatever credentials', async () => {
    const first = await startDynamodb(directory)
    await createTables(first.endpoint, 'us-east-1', [tableWith('S')])
    const item = { pk: { S: 'a' }, sk: { S: 'b' }, value: { N: '0.100000000000000001' } }
    await openClient(first.endpoint).send(new PutItemCommand({ TableName: 'fixture', Item: item }))
    await first.close()
    expect(await isAnswering(first.endpoint)).toBe(false)

    const second = await startDynamodb(directory)
    await createTables(second.endpoint, 'us-east-1', [tableWith('S')])
    const { pk, sk } = item
    const found = await openClient(second.endpoint).send(
      new GetItemCommand({ TableName: 'fixture', Key: { pk, sk } }),
    )
    expect(found.Item).toEqual(item)
    await expect(createTables(second.endpoint, 'us-east-1', [tableWith('N')])).rejects.toThrow(
      /^table fixture of the data directory has other keys or indexes than the template/,
    )
    await second.close()
  })

  it.each(['SIGKILL', 'SIGTERM'] as const)('ends with a process that ends by %s', async (signal) => {
    const module = fileURLToPath(new URL('../../../infra/local/dynamodb/start-dynamodb.ts', import.meta.url))
    const script = `
      const { startDynamodb } = await import(${JSON.stringify(module)})
      const { endpoint } = await startDynamodb(undefined)
      console.log(endpoint)`
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const endpoint = await new Promise<string>((resolve) =>
      owner.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
    )
    expect(await isAnswering(endpoint)).toBe(true)
    owner.kill(signal)
    await expect.poll(() => isAnswering(endpoint), { timeout: 5000 }).toBe(false)
  })
})

describe('without Java', () => {
  it('one line says how to install it, and how to do without', async () => {
    const refusal = await findJava({ PATH: '/nowhere' }).catch((error: unknown) => (error as Error).message)
    expect(refusal).toMatch(
      /^DynamoDB Local needs Java 17 or later, which was not found: install it with .+ --dynamodb-endpoint URL$/,
    )
    expect(refusal).not.toContain('\n')
  })
})

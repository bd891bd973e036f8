import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts'
import { openDatabase } from '../../../infra/local/dynamodb/own-database.ts'
import { startDynamodb } from '../../../infra/local/dynamodb/start-dynamodb.ts'
import { table } from './aws/local-table.ts'
import { newDirectory } from '../../support/new-directory.ts'

const directory = newDirectory()
const isAnswering = (endpoint: string) =>
  fetch(new URL(endpoint).origin, { method: 'POST' }).then(
    () => true,
    () => false,
  )

it.each([
  ['in memory', () => undefined],
  ['in a directory', () => mkdtempSync(join(directory, 'data-'))],
])(
  'nobody can read the data of DynamoDB Local over the network without the access key: %s',
  async (_where, choose) => {
    const running = await startDynamodb(choose())
    await createTables(running.endpoint, [table])
    const { origin, username } = new URL(running.endpoint)
    expect(username).toMatch(/^[0-9a-f]{32}$/)
    for (const accessKeyId of ['local', 'a', username.slice(1), username.toUpperCase()]) {
      const credentials = { accessKeyId, secretAccessKey: 'a' }
      const stranger = new DynamoDBClient({ endpoint: origin, region: 'us-east-1', credentials })
      expect((await stranger.send(new ListTablesCommand({}))).TableNames).toEqual([])
    }
    const { TableNames } = await openDatabase(running.endpoint).send(new ListTablesCommand({}))
    expect(TableNames).toEqual(['main'])
    await running.close()
  },
)

it('DynamoDB Local ends without temporary files when the process that started it is killed', async () => {
  const TMPDIR = mkdtempSync(join(directory, 'tmp-'))
  const module = fileURLToPath(new URL('../../../infra/local/dynamodb/start-dynamodb.ts', import.meta.url))
  const script = `
    const { startDynamodb } = await import(${JSON.stringify(module)})
    const { endpoint } = await startDynamodb(undefined)
    console.log(endpoint)`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR },
  })
  const endpoint = await new Promise<string>((resolve) =>
    owner.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
  )
  expect(await isAnswering(endpoint)).toBe(true)
  owner.kill('SIGKILL')
  await expect.poll(() => readdirSync(TMPDIR), { timeout: 5000 }).toEqual([])
  expect(await isAnswering(endpoint)).toBe(false)
})

/** Returns an environment in which the command `java` runs this Node.js script. */
function installJava(script: string): NodeJS.ProcessEnv {
  const home = mkdtempSync(join(directory, 'java-'))
  mkdirSync(join(home, 'bin'))
  writeFileSync(join(home, 'bin', 'java'), `#!${process.execPath}\n${script}`, { mode: 0o755 })
  return { ...process.env, JAVA_HOME: home }
}

it('startDynamodb fails at once if the process of DynamoDB Local ends', async () => {
  const environment = installJava(`
    console.error('openjdk version "21.0.1"')
    if (!process.argv.includes('-version')) process.exit(3)`)
  await expect(startDynamodb(undefined, environment)).rejects.toThrow(
    'DynamoDB Local ended at once: openjdk version "21.0.1"',
  )
})

it('without Java, the error says in one line how to install Java and how to run without it', async () => {
  const refusal = await startDynamodb(undefined, { PATH: '/nowhere' }).catch(
    (error: unknown) => (error as Error).message,
  )
  expect(refusal).toMatch(
    /^DynamoDB Local needs Java 17 or later, which was not found: install it with .+ --dynamodb-endpoint URL$/,
  )
  expect(refusal).not.toContain('\n')
})

it.each([
  ['leads nowhere', () => ({ ...process.env, JAVA_HOME: '/nowhere' })],
  ['is empty', () => ({ ...process.env, JAVA_HOME: '' })],
  ['has Java 8', () => installJava(`console.error('java version "1.8.0_291"'); process.exit(1)`)],
])('if JAVA_HOME %s, DynamoDB Local runs with the Java of the PATH', async (_what, environment) => {
  const running = await startDynamodb(undefined, environment())
  expect(await isAnswering(running.endpoint)).toBe(true)
  await running.close()
})

it.each([
  ['none', { LC_ALL: undefined, LC_CTYPE: undefined, LANG: undefined }],
  ['one that is not installed', { LC_ALL: 'xx_XX.UTF-8' }],
])('whatever the locale, data may lie in a directory with an umlaut: %s', async (_what, locale) => {
  const data = mkdtempSync(join(directory, 'dätä-'))
  const running = await startDynamodb(data, { ...process.env, ...locale })
  await createTables(running.endpoint, [table])
  expect(readdirSync(data)).toContainEqual(expect.stringMatching(/\.db$/))
  await running.close()
})

it('without any Java, the error says that JAVA_HOME leads nowhere', async () => {
  const started = startDynamodb(undefined, { PATH: '/nowhere', JAVA_HOME: '/no/java' })
  await expect(started).rejects.toThrow(
    'was not found (JAVA_HOME leads to /no/java, which has no Java): install',
  )
})

it('if Java is too old, the error message has the version of Java', async () => {
  const { JAVA_HOME } = installJava(`
    console.error('java version "1.8.0_291"')
    process.exit(process.argv.includes('-version') ? 0 : 1)`)
  await expect(startDynamodb(undefined, { PATH: '/nowhere', JAVA_HOME })).rejects.toThrow(
    'which is only version 8',
  )
})

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from 'aws-lambda'
import { createTables } from '../../infra/local/dynamodb/create-tables.ts'
import { type RunningDynamodb, startDynamodb } from '../../infra/local/dynamodb/start-dynamodb.ts'
import { toEvent } from './simulation/queues.ts'

const workers = 8
const users = 4
const tableName = 'killed'

/**
 * How long DynamoDB Local may take to write to its file what it has answered: it answers before. DynamoDB
 * itself answers after the write.
 */
const maxWriteMilliseconds = 1_000

/**
 * Kills DynamoDB Local (SIGKILL) this many times and starts it again on its data, while events are posted.
 * Lists what must not be: an acknowledged event that is lost, although there was time to write it, or counted
 * twice, or no success within five seconds of a return.
 */
export async function killDatabase(times: number): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'killed-database-'))
  let database = await startDynamodb(directory)
  const relay = await openRelay(() => Number(new URL(database.endpoint).port))
  try {
    await prepareTable(database, relay.port)
    const load = await startLoad()
    const recoveries: number[] = []
    for (let kills = 0; kills < times; kills += 1) {
      await wait(200 + Math.random() * 800)
      const from = Date.now()
      await database.close()
      load.noteKill({ from, to: Date.now() })
      database = await startDynamodb(directory)
      recoveries.push(await load.timeUntilSuccess())
    }
    const problems = await load.finish()
    const slowest = Math.round(Math.max(...recoveries))
    console.log(
      `${times} kills: ${load.count()} events; the first success at most ${slowest} ms after a return`,
    )
    return [
      ...problems,
      ...(slowest > 5_000 ? [`it took ${slowest} ms until an event was applied again`] : []),
    ]
  } finally {
    relay.close()
    await database.close()
    rmSync(directory, { recursive: true })
  }
}

/** Passes connections on to a port that changes when the database starts again. */
async function openRelay(port: () => number) {
  const server = createServer((socket) => {
    const target = connect(port(), '127.0.0.1')
    const end = () => {
      socket.destroy()
      target.destroy()
    }
    for (const each of [socket, target]) each.on('error', end).on('close', end)
    socket.pipe(target).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

/** Creates the table, and lets the code of this process use it through the relay. */
async function prepareTable({ endpoint }: RunningDynamodb, port: number): Promise<void> {
  const names = ['pk', 'sk', 'gpk', 'gsk']
  const keysOf = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ]
  const createTableInput = {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: keysOf('pk', 'sk'),
    GlobalSecondaryIndexes: [
      { IndexName: 'index', KeySchema: keysOf('gpk', 'gsk'), Projection: { ProjectionType: 'ALL' } },
    ],
  }
  await createTables(endpoint, [
    { name: tableName, arn: tableName, createTableInput, ttlAttribute: undefined },
  ])
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: new URL(endpoint).username,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_REGION: 'us-east-1',
    TABLE_NAME: tableName,
    METRICS_NAMESPACE: 'none',
    QUEUE_URL: 'http://queue.invalid/events',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  })
}

/** Posts credits of one until it is finished; an event that is not acknowledged is delivered again. */
async function startLoad() {
  // What is loaded now reads the environment.
  const { handler } = await import('../../functions/intake/wallet.adjusted.ts')
  const { addUser, adjustment, readAllBills } = await import('../support/ledger.ts')
  const { tamperCalls } = await import('../support/tamper-calls.ts')
  await import('../support/silence-metrics.ts')
  const { restore } = tamperCalls(({ client, perform }) =>
    client.constructor.name === 'SQSClient' ? Promise.resolve({}) : perform(),
  )
  const userIds = await Promise.all(Array.from({ length: users }, () => addUser()))
  const acknowledged = new Map<string, { detail: { user_id: number }; at: number }>()
  const kills: { from: number; to: number }[] = []
  let finished = false
  let succeeded = () => {}

  const deliver = async (detail: object): Promise<boolean> => {
    const end = Date.now() + 30_000
    const context = { getRemainingTimeInMillis: () => end - Date.now() } as Context
    const body = JSON.stringify({ id: randomUUID(), 'detail-type': 'wallet.adjusted', detail })
    const now = Date.now()
    const message = { id: randomUUID(), body, group: undefined, sentAt: now, visibleAt: now, receives: 1 }
    return (await handler(toEvent([message]), context)).batchItemFailures.length === 0
  }
  const work = async (worker: number) => {
    while (!finished) {
      const userId = userIds[worker % users] ?? 0
      const detail = adjustment(userId)
      while (!(await deliver(detail))) await wait(100)
      acknowledged.set(detail.adjustment_id, { detail, at: Date.now() })
      succeeded()
    }
  }
  const working = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  return {
    count: () => acknowledged.size,
    noteKill: (kill: { from: number; to: number }) => kills.push(kill),
    /** Resolves with the milliseconds until the next event is acknowledged. */
    async timeUntilSuccess(): Promise<number> {
      const started = performance.now()
      await new Promise<void>((resolve) => (succeeded = resolve))
      return performance.now() - started
    },
    /** Ends the load, and compares the bills with the events. */
    async finish(): Promise<string[]> {
      finished = true
      await working
      const readBilled = async () => {
        const bills = await Promise.all(userIds.map((userId) => readAllBills(userId, 'asset')))
        return bills.flat().map(({ reference }) => reference)
      }
      const billed = new Set(await readBilled())
      const lost = [...acknowledged].filter(([id]) => !billed.has(id))
      const excused = lost.filter(([, { at }]) =>
        kills.some(({ from, to }) => from - maxWriteMilliseconds < at && at <= to),
      )
      console.log(`${lost.length} events were answered by DynamoDB Local and not written`)
      for (const [, { detail }] of lost) while (!(await deliver(detail))) await wait(100)
      restore()
      const all = await readBilled()
      return [
        ...lost
          .filter((one) => !excused.includes(one))
          .map(([id]) => `event ${id} was acknowledged and is lost`),
        ...(all.length === acknowledged.size && new Set(all).size === all.length
          ? []
          : [`${all.length} bills of ${acknowledged.size} events`]),
      ]
    },
  }
}

import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { SQSClient } from '@aws-sdk/client-sqs'
import { BatchGetCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { OutcomeDetail } from '../../shared/events/outcome.ts'
import { listen, receiveOutcomes } from '../support/listener.ts'
import { newDirectory } from '../support/new-directory.ts'
import { anyPorts, startCommand } from '../support/start-command.ts'

/** Two thousand take four minutes. */
const count = Number(process.env['EVENTS'] ?? 500)
const kills = 4
const userId = 7
const data = newDirectory()

const credentials = { accessKeyId: 'any', secretAccessKey: 'any' }

/** Starts the stack with its data, and returns clients for it, and how to kill it. */
async function start() {
  const stack = startCommand(['--data', data, ...anyPorts, '--no-demo', '--set', 'earlyEventSeconds=5'])
  const api = await stack.ready
  const facts = (await (await fetch(`${api}/_local/stack`)).json()) as Record<string, string>
  const timeouts = { connectionTimeout: 10_000, requestTimeout: 30_000, throwOnRequestTimeout: true }
  const config = {
    region: 'us-east-1',
    endpoint: facts['aws_endpoint'] ?? '',
    requestHandler: timeouts,
    credentials: async () => credentials,
    maxAttempts: 1,
  }
  return {
    config,
    busName: facts['event_bus'] ?? '',
    tableName: facts['table'] ?? '',
    bus: new EventBridgeClient(config),
    sqs: new SQSClient(config),
    table: DynamoDBDocumentClient.from(new DynamoDBClient(config)),
    kill: () => stack.signal('SIGKILL'),
  }
}

const adjustment = (i: number) => ({
  adjustment_id: `adjustment-${i}`,
  user_id: userId,
  wallet: 'asset',
  currency: 'USDT',
  // Every tenth event takes more than there is, and is refused after five seconds.
  ...(i % 10 === 9 ? { amount: '1000000', direction: 2 } : { amount: '1', direction: 1 }),
  reason: 'a test',
  at: Date.now(),
})

it(
  'every event has its outcome, and none before it has taken effect, however often the stack is killed',
  { timeout: 900_000 },
  async () => {
    let stack = await start()
    onTestFinished(() => void stack.kill())
    const { busName, tableName } = stack
    const { queueUrl } = await listen(stack)
    const put = async (details: [string, object][]) => {
      const Entries = details.map(([DetailType, detail]) => ({
        ...{ EventBusName: busName, Source: 'business', DetailType },
        Detail: JSON.stringify(detail),
      }))
      const { Entries: results = [] } = await stack.bus.send(new PutEventsCommand({ Entries }))
      return results.map(({ EventId }) => EventId ?? expect.fail('the bus refused an event'))
    }
    const user = { user_id: userId, email: 'a@example.com', nickname: 'A', registered_at: Date.now() }
    const sent = new Set(await put([['user.registered', user]]))
    const told = new Map<string, OutcomeDetail>()
    const receive = async () => {
      const outcomes = await receiveOutcomes(stack.sqs, queueUrl)
      const Keys = outcomes.map(({ detail_type: type, business_key: key }) => ({
        ...{ pk: `EVT#${type}#${key}`, sk: 'EVT' },
      }))
      if (Keys.length === 0) return false
      const distinct = [...new Map(Keys.map((key) => [key.pk, key])).values()]
      const { Responses } = await stack.table.send(
        new BatchGetCommand({ RequestItems: { [tableName]: { Keys: distinct, ConsistentRead: true } } }),
      )
      const recorded = new Map(Responses?.[tableName]?.map((item) => [String(item['pk']), item]))
      for (const outcome of outcomes) {
        const record = recorded.get(`EVT#${outcome.detail_type}#${outcome.business_key}`)
        const isRefused = outcome.outcome === 'refused'
        expect(record, 'told before its commit').toMatchObject(
          isRefused
            ? { refused: { [outcome.event_id]: { code: outcome.reason } } }
            : { event_id: outcome.event_id },
        )
        const { outcome: before } = told.get(outcome.event_id) ?? outcome
        expect(outcome.outcome, 'told in two ways').toBe(before)
        told.set(outcome.event_id, outcome)
      }
      return true
    }
    let next = 0
    for (let killed = 0; next < count;) {
      const some = Array.from({ length: Math.min(10, count - next) }, (_, i) => adjustment(next + i))
      for (const id of await put(some.map((detail) => ['wallet.adjusted', detail]))) sent.add(id)
      next += some.length
      if (killed < kills && next >= ((killed + 1) * count) / (kills + 1)) {
        killed += 1
        // The functions are in the middle of their batches.
        await stack.kill()
        stack = await start()
      }
    }
    const end = Date.now() + 600_000
    const missing = () => [...sent].filter((id) => !told.has(id))
    while (missing().length > 0 && Date.now() < end) if (!(await receive())) await wait(200)
    expect(missing()).toEqual([])
    const outcomes = Map.groupBy(told.values(), ({ outcome }) => outcome)
    expect(outcomes.get('refused')).toHaveLength(Math.floor(count / 10))
    expect(outcomes.get('applied')).toHaveLength(count - Math.floor(count / 10) + 1)
  },
)

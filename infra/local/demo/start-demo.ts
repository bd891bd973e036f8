import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import * as v from 'valibot'
import type { AwsEndpoint } from '../aws/server.ts'
import type { StackModel } from '../model.ts'
import { type DemoEvent, type DemoSettings, demoStages } from './demo-events.ts'

interface DemoOptions {
  model: StackModel
  aws: Pick<AwsEndpoint, 'url' | 'queues'>
  /** File that records whether the events have been sent; undefined keeps the record for this run only. */
  file: string | undefined
  showLine: (line: string) => void
}

/** The first start of the data directory, epoch milliseconds, and whether all events have been sent since. */
const Record = v.object({ first_start: v.number(), sent: v.boolean() })

/** Maximum wait until a stage is applied. After this time, the next stage is sent anyway. */
const maxStageMilliseconds = 30_000
/** Maximum number of events in a PutEvents request (EventBridge quota). */
const maxBatchSize = 10

/**
 * Sends the demo data through the event bus, as an operator would. Resolves when Alice can sign in, with a
 * function that stops the sending. The other events are sent while the stack already serves; their errors are
 * shown, not thrown. If the stack stops before all are sent, its next start sends all of them again. Events
 * that were already applied have no further effect.
 */
export async function startDemo({ model, aws, file, showLine }: DemoOptions): Promise<() => Promise<void>> {
  const { first_start, sent } = readRecord(file)
  if (sent) return async () => undefined
  const record = (done: boolean) => {
    if (file !== undefined) writeFileSync(file, JSON.stringify({ first_start, sent: done }))
  }
  record(false)
  const stopped = new AbortController()
  const isStopped = () => stopped.signal.aborted
  const [first = [], ...others] = demoStages(readSettings(model, first_start))
  const client = new EventBridgeClient({
    endpoint: aws.url,
    region: model.region,
    credentials: { accessKeyId: 'demo', secretAccessKey: 'demo' },
  })
  const sendStage = async (events: DemoEvent[]): Promise<void> => {
    for (let start = 0; start < events.length && !isStopped(); start += maxBatchSize)
      await putEvents(client, busOf(model), events.slice(start, start + maxBatchSize))
    await waitUntilApplied(aws, stopped.signal)
  }
  const sendRest = async (): Promise<void> => {
    for (const stage of others) await sendStage(stage)
    if (!isStopped()) record(true)
  }
  await sendStage(first)
  const rest = sendRest().catch((error: unknown) => {
    if (!isStopped()) showLine(`demo data: ${String(error)}`)
  })
  return () => {
    stopped.abort()
    return rest
  }
}

const readRecord = (file: string | undefined): v.InferOutput<typeof Record> =>
  file !== undefined && existsSync(file)
    ? v.parse(Record, JSON.parse(readFileSync(file, 'utf8')))
    : { first_start: Date.now(), sent: false }

async function putEvents(client: EventBridgeClient, bus: string, events: DemoEvent[]): Promise<void> {
  const entries = events.map(({ detailType, detail }) => ({
    EventBusName: bus,
    Source: 'operator',
    DetailType: detailType,
    Detail: JSON.stringify(detail),
  }))
  const { Entries: results = [] } = await client.send(new PutEventsCommand({ Entries: entries }))
  const codes = results.map(({ ErrorCode }) => ErrorCode)
  const refused = codes.find((code) => code !== undefined && code !== 'ThrottlingException')
  if (refused !== undefined) throw new Error(`the bus refused events of the demo data: ${refused}`)
  const throttled = events.filter((_, i) => codes[i] !== undefined)
  if (throttled.length > 0) await putEvents(client, bus, throttled)
}

/** Waits until every queue except the dead-letter queues is empty, or the maximum wait is over. */
async function waitUntilApplied(aws: DemoOptions['aws'], signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + maxStageMilliseconds
  const isWaiting = () =>
    aws
      .queues()
      .some((queue) => !queue.isDeadLetterQueue && queue.visible + queue.inFlight + queue.delayed > 0)
  while (isWaiting() && Date.now() < deadline && !signal.aborted) await wait(20)
}

const busOf = (model: StackModel): string => model.outputs.EventBusName ?? 'default'

function readSettings({ functions }: StackModel, firstStart: number): DemoSettings {
  const environments = functions.map(({ environment }) => environment)
  const { QUOTE_CURRENCY: quoteCurrency = 'USDT', REWARD_CURRENCY: rewardCurrency = 'USDT' } = Object.assign(
    {},
    ...environments,
  ) as Record<string, string>
  return { firstStart, quoteCurrency, rewardCurrency }
}

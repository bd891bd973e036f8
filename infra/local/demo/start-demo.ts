import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import type { AwsEndpoint } from '../aws/server.ts'
import type { StackModel } from '../model.ts'
import type { InvokeFunction } from '../runtime/runtime.ts'
import type { DemoEvent, DemoSettings } from './demo-events.ts'
import * as demo from './demo-events.ts'
import { type DemoRecord, openDemoRecord } from './demo-record.ts'
import { demoUsers } from './demo-users.ts'

interface DemoOptions {
  model: StackModel
  aws: Pick<AwsEndpoint, 'url' | 'queues'>
  /** Runs functions, and claim-addresses.ts under the id `local/claim-addresses`. */
  invoke: InvokeFunction
  /** File that records which events have been sent; undefined keeps the record for this run only. */
  file: string | undefined
  showLine: (line: string) => void
}

/** What sending a stage of the demo data needs. */
interface Sender extends Pick<DemoOptions, 'model' | 'aws'> {
  record: DemoRecord
  /** Aborts when the stack stops. */
  signal: AbortSignal
}

/** Maximum wait for a stage to be applied; then the next one is sent anyway. */
const maxStageMilliseconds = 30_000
/** Maximum number of events in a PutEvents request (EventBridge quota). */
const maxBatchSize = 10

/**
 * Sends the demo data through the event bus, as the business server would, each event only once per data
 * directory. Resolves when Alice can sign in, with a function that stops sending. The rest is sent while the
 * stack already serves; its errors are reported, not thrown.
 */
export async function startDemo(options: DemoOptions): Promise<() => Promise<void>> {
  const { model, aws, file, showLine } = options
  const stopped = new AbortController()
  const record = openDemoRecord(file, Date.now())
  const sender = { model, aws, record, signal: stopped.signal }
  const settings = readSettings(model, record)
  await sendStage(sender, demo.firstStage(settings))
  const rest = sendRest(sender, settings, () => claimAddresses(options.invoke))
  const reported = rest.catch((error: unknown) => {
    if (!stopped.signal.aborted) showLine(`demo data: ${String(error)}`)
  })
  return () => {
    stopped.abort()
    return reported
  }
}

async function sendRest(sender: Sender, settings: DemoSettings, claim: () => Promise<string[]>) {
  for (const stage of demo.laterStages(settings)) await sendStage(sender, stage)
  // Claim the deposit addresses after the pools are filled: the first request assigns an address.
  if (!sender.signal.aborted && findQueues(sender.model, 'deposit.updated').length > 0)
    await sendStage(sender, demo.deposits(settings, await claim()))
}

async function sendStage(sender: Sender, stage: DemoEvent[]): Promise<void> {
  const { model, aws, record, signal } = sender
  const events = stage.filter(
    (event) => findQueues(model, event.detailType).length > 0 && !record.has(keyOf(event)),
  )
  if (events.length === 0 || signal.aborted) return
  const credentials = { accessKeyId: 'demo', secretAccessKey: 'demo' }
  const client = new EventBridgeClient({ endpoint: aws.url, region: model.region, credentials })
  try {
    for (let start = 0; start < events.length; start += maxBatchSize) {
      const batch = events.slice(start, start + maxBatchSize)
      await putEvents(client, busOf(model), batch)
      record.add(batch.map(keyOf))
    }
  } finally {
    client.destroy()
  }
  await waitUntilApplied(sender, new Set(events.flatMap(({ detailType }) => findQueues(model, detailType))))
}

async function putEvents(client: EventBridgeClient, bus: string, events: DemoEvent[]): Promise<void> {
  const entries = events.map(({ detailType, detail }) => ({
    EventBusName: bus,
    Source: 'demo',
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

async function waitUntilApplied({ aws, signal }: Sender, queueArns: Set<string>): Promise<void> {
  const deadline = Date.now() + maxStageMilliseconds
  const isWaiting = () =>
    aws
      .queues()
      .some(({ arn, visible, inFlight, delayed }) => queueArns.has(arn) && visible + inFlight + delayed > 0)
  while (isWaiting() && Date.now() < deadline && !signal.aborted)
    await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Claims a deposit address per pool for Alice, without the API, because a sign-in would send a mail. */
async function claimAddresses(invoke: InvokeFunction): Promise<string[]> {
  const claim = JSON.stringify({ userId: demoUsers[0]?.user_id, pools: demo.depositPools })
  const { payload, functionError } = await invoke('local/claim-addresses', claim)
  if (functionError !== undefined) throw new Error(payload)
  return JSON.parse(payload) as string[]
}

/** Finds the queues that receive events of a type. */
const findQueues = (model: StackModel, detailType: string): string[] =>
  model.rules
    .filter(({ busName, pattern }) => {
      const accepted = pattern?.['detail-type']
      return busName === busOf(model) && Array.isArray(accepted) && accepted.includes(detailType)
    })
    .flatMap(({ targets }) => targets.map(({ arn }) => arn))

const busOf = (model: StackModel): string => model.outputs.EventBusName ?? 'default'

// Key of a demo event: its business key, which is the first member of every detail, and its status, because a
// deposit has several.
const keyOf = ({ detailType, detail: { status, ...detail } }: DemoEvent): string =>
  JSON.stringify([detailType, Object.values(detail)[0], status])

function readSettings({ functions }: StackModel, { firstStart }: DemoRecord): DemoSettings {
  const environments = functions.map(({ environment }) => environment)
  const { QUOTE_CURRENCY: quoteCurrency = 'USDT', REWARD_CURRENCY: rewardCurrency = 'USDT' } = Object.assign(
    {},
    ...environments,
  ) as Record<string, string>
  return { firstStart, quoteCurrency, rewardCurrency }
}

import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import type { AwsEndpoint } from '../aws/server.ts'
import type { claimAddress } from '../../../shared/deposits/user-address.ts'
import type { FunctionModel, StackModel } from '../model.ts'
import { ServiceThread } from '../service-thread.ts'
import {
  type DemoEvent,
  type DemoSettings,
  depositPools,
  deposits,
  firstStage,
  laterStages,
} from './demo-events.ts'
import { type DemoRecord, openDemoRecord } from './demo-record.ts'
import { demoUsers } from './demo-users.ts'

interface DemoOptions {
  model: StackModel
  aws: Pick<AwsEndpoint, 'url' | 'queues'>
  environmentOf: (model: FunctionModel) => Record<string, string>
  /** Where it is recorded what has been sent; undefined for this run only. */
  file: string | undefined
  showLine: (line: string) => void
}

/** What one run of the demo data sends through. */
interface Sender extends Pick<DemoOptions, 'model' | 'aws'> {
  record: DemoRecord
  /** Aborted when the stack stops. */
  signal: AbortSignal
}

/** A stage that has not been applied by then is followed by the next one all the same. */
const maxStageMilliseconds = 30_000
/** PutEvents takes no more. */
const maxBatchSize = 10

/**
 * Sends the demo data through the bus, as the business server would, but no event twice into one data
 * directory. Resolves when Alice can sign in, with the function that stops sending: the rest is sent while
 * the stack already serves, and its errors are shown, not thrown.
 */
export async function startDemo(options: DemoOptions): Promise<() => Promise<void>> {
  const { model, aws, environmentOf, file, showLine } = options
  const stopped = new AbortController()
  const record = openDemoRecord(file, Date.now())
  const sender = { model, aws, record, signal: stopped.signal }
  const settings = readSettings(model, record)
  await sendStage(sender, firstStage(settings))
  const rest = sendRest(sender, settings, () => claimAddresses(model, environmentOf))
  const reported = rest.catch((error: unknown) => {
    if (!stopped.signal.aborted) showLine(`demo data: ${String(error)}`)
  })
  return () => {
    stopped.abort()
    return reported
  }
}

async function sendRest(sender: Sender, settings: DemoSettings, claim: () => Promise<string[]>) {
  for (const stage of laterStages(settings)) await sendStage(sender, stage)
  // Claimed once the pools are filled, because an address is assigned at the first request.
  if (!sender.signal.aborted && findQueues(sender.model, 'deposit.updated').length > 0)
    await sendStage(sender, deposits(settings, await claim()))
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
  const { FailedEntryCount: failed = 0 } = await client.send(new PutEventsCommand({ Entries: entries }))
  if (failed > 0) throw new Error(`the bus refused ${failed} events of the demo data`)
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

/**
 * Alice's deposit addresses, one for each pool, claimed by the address function's own code with its rights.
 * The API would need a sign-in, whose mail would be the newest in her outbox.
 */
async function claimAddresses(model: StackModel, environmentOf: DemoOptions['environmentOf']) {
  const route = model.routes.find(({ routeKey }) => routeKey === 'GET /address/info')
  const owner = model.functions.find(({ logicalId }) => logicalId === route?.functionLogicalId)
  if (owner === undefined) throw new Error('no function hands out addresses')
  const thread = new ServiceThread(environmentOf(owner))
  const [{ user_id: userId } = { user_id: 0 }] = demoUsers
  const claim = (pool: { currency: string; network: string }) =>
    thread.call<typeof claimAddress>('shared/deposits/user-address.ts', 'claimAddress', userId, pool)
  const claimed = await Promise.all(depositPools.map(claim)).finally(() => thread.close())
  return claimed.map(({ address }) => address)
}

/** The queues that events of a type reach. */
const findQueues = (model: StackModel, detailType: string): string[] =>
  model.rules
    .filter(({ busName, pattern }) => {
      const accepted = pattern?.['detail-type']
      return busName === busOf(model) && Array.isArray(accepted) && accepted.includes(detailType)
    })
    .flatMap(({ targets }) => targets.map(({ arn }) => arn))

const busOf = (model: StackModel): string => model.outputs.EventBusName ?? 'default'

// The business key comes first in every detail. The whole detail would be another key after every change of
// its wording.
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

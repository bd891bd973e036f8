import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import type { AwsEndpoint } from '../aws/server.ts'
import type { StackModel } from '../model.ts'
import type { AddressPool } from './claim-addresses.ts'
import {
  type DemoSetting,
  type DemoStage,
  depositPools,
  deposits,
  firstStage,
  laterStages,
} from './demo-events.ts'
import type { DemoMemory } from './demo-record.ts'

export interface DemoOptions {
  model: StackModel
  aws: Pick<AwsEndpoint, 'url' | 'queues'>
  memory: DemoMemory
  /** Alice's deposit addresses, assigned now if need be. */
  claimAddresses: (pools: AddressPool[]) => Promise<string[]>
  /** Aborted when the stack stops. */
  signal: AbortSignal
}

/** How long a stage may take to be applied before the next one follows all the same, in milliseconds. */
const stageLimit = 30_000
/** PutEvents' own limit. */
const entriesAtOnce = 10

/**
 * Sends the demo data through the bus, as the business server would. Resolves when Alice can sign in and the demo
 * application is known; `rest` resolves when everything else has been applied, too. Only events that some rule
 * takes are sent, and none that this data directory was sent before.
 */
export async function sendDemo(options: DemoOptions): Promise<{ rest: Promise<void> }> {
  const setting = readSetting(options)
  await sendStage(options, firstStage(setting))
  return { rest: sendLater(options, setting) }
}

async function sendLater(options: DemoOptions, setting: DemoSetting): Promise<void> {
  for (const stage of laterStages(setting)) {
    if (options.signal.aborted) return
    await sendStage(options, stage)
  }
  // Asked for once the pools are filled: an address is given at the first request.
  if (options.signal.aborted || queuesOf(options.model, 'deposit.updated').length === 0) return
  await sendStage(options, deposits(setting, await options.claimAddresses(depositPools)))
}

async function sendStage({ model, aws, memory, signal }: DemoOptions, stage: DemoStage): Promise<void> {
  const events = stage.filter(
    ({ detailType, detail }) =>
      queuesOf(model, detailType).length > 0 && !memory.hasSent(keyOf(detailType, detail)),
  )
  if (events.length === 0) return
  const client = new EventBridgeClient({
    endpoint: aws.url,
    region: model.region,
    credentials: { accessKeyId: 'demo', secretAccessKey: 'demo' },
  })
  try {
    for (let start = 0; start < events.length; start += entriesAtOnce) {
      const some = events.slice(start, start + entriesAtOnce)
      const { FailedEntryCount: failed } = await client.send(
        new PutEventsCommand({
          Entries: some.map(({ detailType, detail }) => ({
            EventBusName: busOf(model),
            Source: 'demo',
            DetailType: detailType,
            Detail: JSON.stringify(detail),
          })),
        }),
      )
      if (failed !== undefined && failed > 0)
        throw new Error(`the bus refused ${failed} events of the demo data`)
      memory.remember(some.map(({ detailType, detail }) => keyOf(detailType, detail)))
    }
  } finally {
    client.destroy()
  }
  const queueArns = new Set(events.flatMap(({ detailType }) => queuesOf(model, detailType)))
  await waitUntilApplied(aws, queueArns, signal)
}

async function waitUntilApplied(
  aws: Pick<AwsEndpoint, 'queues'>,
  queueArns: Set<string>,
  signal: AbortSignal,
) {
  const deadline = Date.now() + stageLimit
  const waiting = () =>
    aws
      .queues()
      .some((queue) => queueArns.has(queue.arn) && queue.visible + queue.inFlight + queue.delayed > 0)
  while (waiting() && Date.now() < deadline && !signal.aborted)
    await new Promise((resolve) => setTimeout(resolve, 20))
}

/** The queues that an event of this type ends up in. */
function queuesOf(model: StackModel, detailType: string): string[] {
  return model.rules
    .filter(({ busName, pattern }) => busName === busOf(model) && takes(pattern, detailType))
    .flatMap(({ targets }) => targets.map(({ arn }) => arn))
}

const takes = (pattern: Record<string, unknown> | undefined, detailType: string): boolean => {
  const accepted = pattern?.['detail-type']
  return Array.isArray(accepted) && accepted.includes(detailType)
}

const busOf = (model: StackModel): string => model.outputs.EventBusName ?? 'default'

// The business key comes first in every detail; the whole detail would change with its words.
function keyOf(detailType: string, { status, ...detail }: Record<string, unknown>): string {
  return JSON.stringify([detailType, Object.values(detail)[0], status])
}

function readSetting({ model, memory }: DemoOptions): DemoSetting {
  const environment = Object.assign({}, ...model.functions.map((item) => item.environment)) as Record<
    string,
    string
  >
  return {
    firstStart: memory.firstStart,
    quoteCurrency: environment.QUOTE_CURRENCY ?? 'USDT',
    rewardCurrency: environment.REWARD_CURRENCY ?? 'USDT',
  }
}

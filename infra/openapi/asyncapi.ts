import { readFileSync } from 'node:fs'
import { ownSource } from '../../shared/env.ts'
import type { Intake } from '../../shared/events/intake.ts'
import { OutcomeDetail, outcomes, type outcomeTypes, type ToldOutcome } from '../../shared/events/outcome.ts'
import { commonRejections, rejectionReasons } from '../../shared/events/rejected-event.ts'
import { events } from '../events.ts'
import { demoStages } from '../local/demo/demo-events.ts'
import { serviceName } from '../names.ts'
import { readComment } from '../read-comment.ts'
import { intakeFile, loadIntakes } from './load-intakes.ts'
import { inputSchema, type JsonSchema, outputSchema } from './schemas.ts'

const outcomeExample = {
  event_id: '6f0fa8f0-95b4-4b5c-a7f5-3c7c3bd6a8a5',
  detail_type: 'wallet.adjusted',
  business_key: 'welcome-1',
  at: 1_789_000_000_000,
} as const

/**
 * Builds the AsyncAPI 3 document of the events that the service takes from its bus, and of those by which it
 * tells their outcomes. A message's payload is the event's `detail`. Descriptions and schemas come from the
 * handlers, senders from infra/events.ts, and examples from the demo events.
 */
export async function asyncApiDocument(): Promise<JsonSchema> {
  const intakes = await loadIntakes()
  const byType = <T>(describe: (intake: Intake) => T): Record<string, T> =>
    Object.fromEntries(intakes.map((intake) => [intake.detailType, describe(intake)]))
  const taken = byType(describeMessage)
  const messages = { ...taken, ...told }
  const onBus = (some: object) => ({
    channel: { $ref: '#/channels/bus' },
    messages: Object.keys(some).map((name) => ({ $ref: `#/channels/bus/messages/${name}` })),
  })
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Events of the account, wallet, community and rewards service',
      version: '1.0.0',
      description: [
        'The systems around the service tell it what has happened by events on an EventBridge bus. The name of a message is the `detail-type` of an event, the payload its `detail`, and `x-senders` lists what its `source` may be. The local stack takes any `source`, except for events that the service itself sends.',
        'An event takes effect exactly once: its business key (`x-business-key`) is written in the same transaction as what it changes. The same key with the same content has no further effect; with other content it is refused. Content is what the schema has read: neither the order of members nor the spelling of a value (`1.50` and `1.5`, `btc` and `BTC`) makes another. A member that the event does not have is refused by name. Members that may be omitted may also be null.',
        'The bus and its queues keep no order, so events may be sent without waiting for one another: an event that needs another one (the registration of its user, the money that it takes, the request that it settles) waits for it, for a minute.',
        'A refused event goes to the dead-letter queue of its kind, whole, once for all copies of its message, with the attributes `reason` (a code of `x-refusals`, a colon, an explanation) and `refusals` (how often it was refused). `final` says when: `at once`; `after a minute` if a later event may make good what is missing; `after all tries`, which takes hours, if the service itself cannot apply it. A redriven event has a minute of its own.',
        'What became of an event is told on the same bus, at least once and after it has taken effect (operation `tellOutcomes`): `event.applied` or `event.refused`, from the source `account-service`. An event that is delivered again is told again, with the same outcome.',
        'Amounts are decimal strings. Instants are epoch milliseconds, from 10^12 to five minutes ahead of the service’s clock; where two are compared, one that lay ahead counts as that of its arrival. Dates are `yyyy-MM-dd` in the reporting time zone. Identifiers have no white space at their ends; the description of each says how it is compared.',
      ].join('\n\n'),
      license: { name: 'Proprietary' },
    },
    defaultContentType: 'application/json',
    channels: {
      bus: {
        address: serviceName('local'),
        description:
          'The EventBridge bus of the local stack; that of a deployment is its output `EventBusName`. The reasons of refusal here are those that every event has.',
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        'x-refusals': describeRefusals(commonRejections),
      },
    },
    operations: {
      takeEvents: { action: 'receive', ...onBus(taken) },
      tellOutcomes: { action: 'send', ...onBus(told) },
    },
    components: {
      messages,
      schemas: { ...byType(({ detail }) => inputSchema(detail)), outcome: outputSchema(OutcomeDetail) },
    },
  }
}

/** The messages by which the service tells what became of an event. Both have the same payload. */
const told: Record<(typeof outcomeTypes)[number], JsonSchema> = {
  'event.applied': {
    name: 'event.applied',
    description: `Tells the sender of an event that nothing is left to do about it. ${['applied', 'no_effect', 'overtaken', 'settled_without_request'].map((name) => `\`${name}\`: ${outcomes[name as ToldOutcome]}`).join('; ')}.`,
    payload: { $ref: '#/components/schemas/outcome' },
    examples: [
      {
        payload: {
          ...outcomeExample,
          outcome: 'applied',
          user_id: 1001,
          subject: { id: 'A1001-7' },
        },
      },
    ],
    'x-senders': [ownSource],
  },
  'event.refused': {
    name: 'event.refused',
    description: `Tells the sender of an event that it was refused: ${outcomes.refused}. A redrive of the dead letter is told again.`,
    payload: { $ref: '#/components/schemas/outcome' },
    examples: [
      { payload: { ...outcomeExample, outcome: 'refused', reason: 'insufficient_balance', user_id: 1001 } },
    ],
    'x-senders': [ownSource],
  },
}

function describeMessage({ detailType, key, rejections }: Intake): JsonSchema {
  const isOfType = (event: { detailType: string }) => event.detailType === detailType
  const senders = events.find(isOfType)?.senders
  const example = demoStages(demo).flat().find(isOfType)
  if (example === undefined && senders?.some((sender) => sender !== ownSource))
    throw new Error(`infra/local/demo/demo-events.ts has no ${detailType}, which is its example`)
  return {
    name: detailType,
    description: readComment(readFileSync(intakeFile(detailType), 'utf8'), 'export const handler'),
    payload: { $ref: `#/components/schemas/${detailType}` },
    examples: example && [{ payload: example.detail }],
    // Each member `x` of this sample event has the value `{x}`, so that the business key built from it shows
    // the members' names.
    'x-business-key': key(new Proxy({}, { get: (_, name) => `{${String(name)}}` })),
    'x-senders': senders,
    'x-refusals': describeRefusals(rejections),
  }
}

const demo = { firstStart: Date.UTC(2026, 0, 1), quoteCurrency: 'USDT', rewardCurrency: 'USDT', poolSize: 1 }

const describeRefusals = (reasons: Intake['rejections']): Record<string, object> =>
  Object.fromEntries(reasons.map((reason) => [reason, rejectionReasons[reason]]))

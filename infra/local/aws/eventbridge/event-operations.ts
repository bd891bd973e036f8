import * as v from 'valibot'
import { isObject } from '../../../../shared/is-object.ts'
import type { RuleModel, StackModel } from '../../model.ts'
import { compilePolicies } from '../iam/policy.ts'
import type { DeliveryOptions } from '../lambda/event-source.ts'
import type { Store } from '../storage/store.ts'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, type Operation } from '../wire/operation.ts'
import type { Rules } from './rules.ts'

/** Maximum size of a PutEvents request (EventBridge quota), in bytes as `entryBytes` counts them. */
const maxRequestBytes = 1_048_576

/** Probability that one entry of a request is refused; the AWS SDK does not retry a refused entry. */
const throttleProbability = 0.01

/** Accepts the name or the ARN of an event bus, and returns its name. */
const readBusName = v.transform((bus: string) => bus.slice(bus.lastIndexOf('/') + 1))
/** The bus of a request: its name or ARN; by default, the account's default bus. */
export const EventBusName = v.optional(v.pipe(v.string(), readBusName), 'default')
const Entry = v.object({
  Source: v.optional(v.string(), ''),
  DetailType: v.optional(v.string(), ''),
  Detail: v.optional(v.string(), ''),
  EventBusName,
  Resources: v.optional(v.array(v.string()), []),
  /** Time of the event, seconds since the epoch. */
  Time: v.optional(v.number()),
})
type Entry = v.InferOutput<typeof Entry>
const PutEventsInput = v.object({ Entries: v.pipe(v.array(Entry), v.minLength(1), v.maxLength(10)) })

const RuleInput = v.object({ Name: v.string(), EventBusName })
type RuleInput = v.InferOutput<typeof RuleInput>
const TargetsInput = v.pipe(
  v.object({ Rule: v.string(), EventBusName }),
  v.transform((input): RuleInput => ({ Name: input.Rule, EventBusName: input.EventBusName })),
)

/**
 * EventBridge's PutEvents and its operations on rules. The effects of EnableRule and DisableRule last until a
 * restart.
 */
export function eventOperations(
  { model, quirks }: DeliveryOptions,
  rules: Rules,
  store: Store,
): Record<string, Operation> {
  const arnOf = (resource: string) => `arn:aws:events:${model.region}:${model.accountId}:${resource}`
  const busPolicies = new Map(
    model.buses.map(({ name, policy }) => [name, compilePolicies([policy], `bus ${name}`)]),
  )
  const onRule = (
    action: string,
    run: (rule: RuleModel) => unknown,
    schema: v.GenericSchema<unknown, RuleInput> = RuleInput,
  ) =>
    defineOperation(
      schema,
      ({ Name, EventBusName: bus }) => ({
        action: `events:${action}`,
        resource: arnOf(bus === 'default' ? `rule/${Name}` : `rule/${bus}/${Name}`),
      }),
      (input) => run(findRule(rules, input)),
    )
  return {
    PutEvents: defineOperation(
      PutEventsInput,
      ({ Entries }) =>
        Entries.map(({ EventBusName, DetailType, Source }) => ({
          action: 'events:PutEvents',
          resource: arnOf(`event-bus/${EventBusName}`),
          resourcePolicy: { policy: busPolicies.get(EventBusName) ?? [], role: 'additional' as const },
          context: { 'events:detail-type': DetailType, 'events:source': [Source] },
        })),
      ({ Entries }, { caller }) => {
        const isThrottled = () => quirks.happens('throttles', `${caller.arn} entry`, throttleProbability)
        return putEvents(model, rules, store, Entries, isThrottled)
      },
    ),
    DescribeRule: onRule('DescribeRule', (rule) => describeRule(rule, rules)),
    EnableRule: onRule('EnableRule', (rule) => rules.setEnabled(rule, true)),
    DisableRule: onRule('DisableRule', (rule) => rules.setEnabled(rule, false)),
    ListTargetsByRule: onRule(
      'ListTargetsByRule',
      ({ targets }) => ({
        Targets: targets.map(({ id: Id, arn: Arn, input: Input }) => ({ Id, Arn, Input })),
      }),
      TargetsInput,
    ),
  }
}

function putEvents(
  model: StackModel,
  rules: Rules,
  store: Store,
  entries: Entry[],
  isThrottled: () => boolean,
) {
  if (entries.reduce((sum, entry) => sum + entryBytes(entry), 0) >= maxRequestBytes)
    throw new AwsError('ValidationException', 'Total size of the entries in the request is over the limit.')
  const results = store.atomically(() =>
    entries.map((entry) => (isThrottled() ? throttledEntry : putEvent(model, rules, entry))),
  )
  return { FailedEntryCount: results.filter(({ ErrorCode }) => ErrorCode).length, Entries: results }
}

/** The result for an entry that is throttled although its request is accepted (EventBridge: PutEvents). */
const throttledEntry: Record<string, string> = {
  ErrorCode: 'ThrottlingException',
  ErrorMessage: 'The request was denied due to request throttling.',
}

/** Routes one PutEvents entry to the matching rules. Returns an error code for an invalid entry. */
function putEvent(model: StackModel, rules: Rules, entry: Entry): Record<string, string> {
  const { Source: source, DetailType: detailType, Detail: detail, EventBusName: bus } = entry
  const refuse = (ErrorCode: string, ErrorMessage: string) => ({ ErrorCode, ErrorMessage })
  for (const name of ['Source', 'DetailType', 'Detail'] as const)
    if (entry[name] === '') return refuse('InvalidArgument', `${name} is a required argument.`)
  if (source.startsWith('aws.'))
    return refuse('NotAuthorizedForSourceException', 'Not authorized for the source.')
  if (!isJsonObject(detail)) return refuse('MalformedDetail', 'Detail is malformed.')
  if (bus !== 'default' && !model.buses.some(({ name }) => name === bus))
    return refuse('ResourceNotFoundException', `Event bus ${bus} does not exist.`)
  const at = entry.Time === undefined ? Date.now() : entry.Time * 1000
  return { EventId: rules.route(bus, { source, detailType, detail, resources: entry.Resources, at }) }
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    // EventBridge only reports that the detail is malformed, so the parser's error is dropped.
    return false
  }
}

/** Size of a PutEvents entry as EventBridge counts it: its texts in UTF-8, and 14 bytes if it has a time. */
function entryBytes({ Time, Source, DetailType, Detail, Resources }: Entry): number {
  const text = [Source, DetailType, Detail, ...Resources].join('')
  return Buffer.byteLength(text) + (Time === undefined ? 0 : 14)
}

/** Finds the rule that a request names. Throws ResourceNotFoundException. */
export function findRule(rules: Rules, { Name, EventBusName: bus }: RuleInput): RuleModel {
  const found = rules.find(bus, Name)
  if (found !== undefined) return found
  throw new AwsError('ResourceNotFoundException', `Rule ${Name} does not exist on EventBus ${bus}.`)
}

function describeRule(rule: RuleModel, rules: Rules): Record<string, unknown> {
  return {
    Name: rule.name,
    Arn: rule.arn,
    EventBusName: rule.busName,
    State: rules.isEnabled(rule) ? 'ENABLED' : 'DISABLED',
    ScheduleExpression: rule.schedule,
    EventPattern: rule.pattern && JSON.stringify(rule.pattern),
  }
}

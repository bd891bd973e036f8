import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Call, type Operation } from '../wire/operation.ts'
import { ruleAdministration } from './administration.ts'
import { sealEvent } from './envelope.ts'
import type { Rules } from './rules.ts'

/** EventBridge's limit for all entries of a request, in bytes, as it counts them. */
const maximumBytes = 1_048_576

const Entry = v.object({
  Source: v.optional(v.string()),
  DetailType: v.optional(v.string()),
  Detail: v.optional(v.string()),
  EventBusName: v.optional(v.string(), 'default'),
  Resources: v.optional(v.array(v.string()), []),
  /** Seconds since the epoch. */
  Time: v.optional(v.number()),
})
type Entry = v.InferOutput<typeof Entry>

const PutEventsInput = v.object({ Entries: v.pipe(v.array(Entry), v.minLength(1), v.maxLength(10)) })

/** Every operation of EventBridge that is answered; of PutEvents, every entry by itself reaches its rules, or is answered with what is wrong about it. */
export function eventBridgeOperations(
  model: StackModel,
  rules: Rules,
  atomically: <Result>(work: () => Result) => Result,
): Record<string, Operation> {
  return {
    ...ruleAdministration(model, rules),
    PutEvents: operation(PutEventsInput, (input, call) => {
      for (const entry of input.Entries) authorizeEntry(model, call, entry)
      if (input.Entries.reduce((sum, entry) => sum + entryBytes(entry), 0) >= maximumBytes)
        throw new AwsError(
          'ValidationException',
          'Total size of the entries in the request is over the limit.',
        )
      const results = atomically(() => input.Entries.map((entry) => putEvent(model, rules, entry)))
      return { FailedEntryCount: results.filter((result) => 'ErrorCode' in result).length, Entries: results }
    }),
  }
}

function authorizeEntry(model: StackModel, call: Call, entry: Entry): void {
  const bus = readBusName(entry)
  call.authorize({
    action: 'events:PutEvents',
    resource: `arn:aws:events:${model.region}:${model.accountId}:event-bus/${bus}`,
    context: { 'events:detail-type': entry.DetailType, 'events:source': entry.Source },
  })
}

function putEvent(model: StackModel, rules: Rules, entry: Entry): Record<string, string> {
  const refuse = (ErrorCode: string, ErrorMessage: string) => ({ ErrorCode, ErrorMessage })
  const { Source, DetailType, Detail } = entry
  if (!Source)
    return refuse('InvalidArgument', 'Parameter Source is not valid. Reason: Source is a required argument.')
  if (!DetailType)
    return refuse(
      'InvalidArgument',
      'Parameter DetailType is not valid. Reason: DetailType is a required argument.',
    )
  if (!Detail)
    return refuse('InvalidArgument', 'Parameter Detail is not valid. Reason: Detail is a required argument.')
  if (Source.startsWith('aws.'))
    return refuse('NotAuthorizedForSourceException', 'Not authorized for the source.')
  const detail = parseObject(Detail)
  if (detail === undefined) return refuse('MalformedDetail', 'Detail is malformed.')
  const busName = readBusName(entry)
  if (!model.buses.some(({ name }) => name === busName) && busName !== 'default')
    return refuse('ResourceNotFoundException', `Event bus ${busName} does not exist.`)

  const event = {
    source: Source,
    detailType: DetailType,
    detail: Detail,
    resources: entry.Resources,
    at: entry.Time === undefined ? Date.now() : entry.Time * 1000,
  }
  const envelope = sealEvent(event, model)
  rules.route(busName, { ...envelope.head, detail }, envelope)
  return { EventId: envelope.id }
}

function readBusName({ EventBusName }: Entry): string {
  return EventBusName.slice(EventBusName.lastIndexOf('/') + 1)
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    // EventBridge says no more than that the detail is malformed, and neither does this.
    return undefined
  }
}

/** As EventBridge counts: 14 for the time if given, else the UTF-8 bytes of source, type, detail and resources. */
function entryBytes({ Time, Source = '', DetailType = '', Detail = '', Resources }: Entry): number {
  const texts = [Source, DetailType, Detail, ...Resources]
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), Time === undefined ? 0 : 14)
}

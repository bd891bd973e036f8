import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import type { NewEvent } from '../eventbridge/rules.ts'
import type { Caller } from '../iam/callers.ts'
import { type Answer, type AwsRequest, parseJson } from '../wire/http-messages.ts'
import { defineOperation, type Operation } from '../wire/operation.ts'

/** The calls that change keys; EventBridge gets no others from CloudTrail unless a rule asks for them. */
const changes = new Set([
  'CancelKeyDeletion',
  'CreateKey',
  'DisableKey',
  'EnableKey',
  'ScheduleKeyDeletion',
  'TagResource',
  'UntagResource',
])

const KeyInput = v.object({ KeyId: v.string() })

/** What CloudTrail records of a call (CloudTrail record contents), as far as it is known here. */
interface TrailRecord {
  eventID: string
  eventTime: string
  eventSource: string
  eventName: string
  awsRegion: string
  userIdentity: { arn: string; sessionContext?: object }
  errorCode?: unknown
  resources: { type: string; ARN: string }[]
}

/** Number of the records that are kept; the oldest are forgotten first. */
const maxRecords = 1_000

/** The trail of a region: what changed its keys. */
export type Trail = ReturnType<typeof openTrail>

/** Opens the trail of the stack's region, which is lost when the stack stops. */
export function openTrail(model: StackModel) {
  const records: TrailRecord[] = []
  return {
    /** The records, newest first. */
    records: (): TrailRecord[] => records.toReversed(),
    /**
     * Records a call that changes a key, refused or not, and returns the event by which CloudTrail tells of
     * it; undefined for other calls.
     */
    observe(request: AwsRequest, caller: Caller, answer: Answer): NewEvent | undefined {
      const { service, operation } = request.target
      if (service !== 'TrentService' || !changes.has(operation)) return undefined
      const record = describeKeyChange(model, request, caller, answer)
      records.push(record)
      records.splice(0, records.length - maxRecords)
      const head = { source: 'aws.kms', detailType: 'AWS API Call via CloudTrail', resources: [] }
      return { ...head, detail: JSON.stringify(record), at: Date.parse(record.eventTime) }
    },
  }
}

function describeKeyChange(
  { region, accountId }: StackModel,
  { target: { operation }, body }: AwsRequest,
  caller: Caller,
  answer: Answer,
): TrailRecord {
  const input = v.safeParse(KeyInput, parseJson(body))
  const { KeyId: id = '' } = input.success ? input.output : {}
  const ARN = id.startsWith('arn:') ? id : `arn:aws:kms:${region}:${accountId}:key/${id}`
  const role = /:assumed-role\/([^/]+)\//.exec(caller.arn)?.[1]
  const issuer = { sessionIssuer: { arn: `arn:aws:iam::${accountId}:role/${role ?? ''}` } }
  return {
    eventID: randomUUID(),
    eventTime: new Date().toISOString(),
    eventSource: 'kms.amazonaws.com',
    eventName: operation,
    awsRegion: region,
    userIdentity: { arn: caller.arn, ...(role !== undefined && { sessionContext: issuer }) },
    ...(answer.status !== 200 && { errorCode: answer.headers['x-amzn-errortype'] }),
    resources: id === '' ? [] : [{ type: 'AWS::KMS::Key', ARN }],
  }
}

/** The attributes by which records can be looked up here, with their values in a record. */
const attributes = {
  EventId: ({ eventID }) => [eventID],
  EventName: ({ eventName }) => [eventName],
  EventSource: ({ eventSource }) => [eventSource],
  ResourceName: ({ resources }) => resources.map(({ ARN }) => ARN),
} satisfies Record<string, (record: TrailRecord) => string[]>

const LookupEventsInput = v.object({
  LookupAttributes: v.optional(
    v.pipe(
      v.array(
        v.object({
          AttributeKey: v.picklist(Object.keys(attributes) as (keyof typeof attributes)[]),
          AttributeValue: v.string(),
        }),
      ),
      v.maxLength(1),
    ),
    [],
  ),
  MaxResults: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50)), 50),
})

/** CloudTrail's operation LookupEvents: the newest records in one page. */
export const trailOperations = (trail: Trail): Record<string, Operation> => ({
  LookupEvents: defineOperation(
    LookupEventsInput,
    () => ({ action: 'cloudtrail:LookupEvents', resource: '*' }),
    ({ LookupAttributes, MaxResults }) => ({
      Events: trail
        .records()
        .filter((record) =>
          LookupAttributes.every(({ AttributeKey: key, AttributeValue: value }) =>
            attributes[key](record).includes(value),
          ),
        )
        .slice(0, MaxResults)
        .map((record) => ({
          EventId: record.eventID,
          EventName: record.eventName,
          EventTime: Date.parse(record.eventTime) / 1_000,
          EventSource: record.eventSource,
          ReadOnly: 'false',
          Username: record.userIdentity.arn.split(/[:/]/).at(-1),
          Resources: record.resources.map(({ type, ARN }) => ({ ResourceType: type, ResourceName: ARN })),
          CloudTrailEvent: JSON.stringify(record),
        })),
    }),
  ),
})

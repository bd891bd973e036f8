import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import type { NewEvent } from '../eventbridge/rules.ts'
import type { Caller } from '../iam/callers.ts'
import { type Answer, type AwsRequest, parseJson } from '../wire/http-messages.ts'

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

/** The event by which CloudTrail tells of a change of a key, refused or not; undefined for other calls. */
export function describeKeyChange(
  { region, accountId }: StackModel,
  { target: { service, operation }, body }: AwsRequest,
  caller: Caller,
  answer: Answer,
): NewEvent | undefined {
  if (service !== 'TrentService' || !changes.has(operation)) return undefined
  const input = v.safeParse(KeyInput, parseJson(body))
  const { KeyId: id = '' } = input.success ? input.output : {}
  const ARN = id.startsWith('arn:') ? id : `arn:aws:kms:${region}:${accountId}:key/${id}`
  const role = /:assumed-role\/([^/]+)\//.exec(caller.arn)?.[1]
  const issuer = { sessionIssuer: { arn: `arn:aws:iam::${accountId}:role/${role ?? ''}` } }
  const detail = {
    eventSource: 'kms.amazonaws.com',
    eventName: operation,
    userIdentity: { arn: caller.arn, ...(role !== undefined && { sessionContext: issuer }) },
    ...(answer.status !== 200 && { errorCode: answer.headers['x-amzn-errortype'] }),
    resources: id === '' ? [] : [{ type: 'AWS::KMS::Key', ARN }],
  }
  const head = { source: 'aws.kms', detailType: 'AWS API Call via CloudTrail', resources: [] }
  return { ...head, detail: JSON.stringify(detail), at: Date.now() }
}

import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../../infra/local/aws/eventbridge/pattern.ts'
import { findQueue } from '../../../infra/ops/dead-letters/queues.ts'
import { readStage } from '../../support/read-stage.ts'
import { ofType, synthesizeUnchecked } from '../stacks/synthesize.ts'

const { rules, keys } = await readStage('prod')

const raisedBy = (eventName: string, userIdentity: object, detail: object = {}) => {
  const call = { eventSource: 'kms.amazonaws.com', eventName, userIdentity, ...detail }
  const event = { source: 'aws.kms', 'detail-type': 'AWS API Call via CloudTrail', detail: call }
  const matching = rules.filter(
    ({ busName, pattern = {} }) => busName === 'default' && compilePattern(pattern)(event),
  )
  return matching.flatMap(({ name, pattern }) => (pattern ? [name.replace('account-service-prod-', '')] : []))
}

const session = (role: string, name: string) => ({
  type: 'AssumedRole',
  arn: `arn:aws:sts::123456789012:assumed-role/${role}/${name}`,
})
const functionOf = (stage: string, name: string) =>
  session(`account-service-${stage}-Role1A2B`, `account-service-${stage}-${name}`)
const administrator = session('Administrator', 'account-service-prod-rotate-signing-keys')
const user = { type: 'IAMUser', arn: 'arn:aws:iam::123456789012:user/account-service-prod' }
const ofOurKey = { resources: [{ ARN: keys.MAC.arn }] }
const ofAnyKey = { resources: [{ ARN: 'arn:aws:kms:eu-central-1:123456789012:key/any' }] }
const rs256 = { requestParameters: { signingAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256' } }

describe('a change of a key', () => {
  it.each([
    'CancelKeyDeletion',
    'CreateGrant',
    'DeleteImportedKeyMaterial',
    'DisableKey',
    'DisableKeyRotation',
    'EnableKey',
    'PutKeyPolicy',
    'ReplicateKey',
    'ScheduleKeyDeletion',
    'TagResource',
    'UntagResource',
    'UpdatePrimaryRegion',
  ])('%s raises an alarm, whoever calls it and whichever key it changes', (eventName) => {
    for (const caller of [administrator, user, functionOf('prod', 'oauth2-token'), {}])
      for (const key of [ofOurKey, ofAnyKey])
        expect(raisedBy(eventName, caller, key)).toEqual(['key-changes'])
  })

  it('of key changes by the rotation, only the retirement of a signing key raises no alarm', () => {
    for (const stage of ['prod', 'other']) {
      const rotation = functionOf(stage, 'rotate-signing-keys')
      for (const action of ['DisableKey', 'ScheduleKeyDeletion']) {
        expect(raisedBy(action, rotation, ofAnyKey)).toEqual([])
        expect(raisedBy(action, rotation, ofOurKey)).toEqual(['key-changes'])
      }
      expect(raisedBy('TagResource', rotation, ofAnyKey)).toEqual(['key-changes'])
    }
  })

  it('an AWS service’s CreateGrant for itself raises an alarm only for a key of the stage', () => {
    const lambda = { ...administrator, invokedBy: 'lambda.amazonaws.com' }
    expect(raisedBy('CreateGrant', lambda, ofAnyKey)).toEqual([])
    expect(raisedBy('CreateGrant', lambda, ofOurKey)).toEqual(['key-changes'])
    expect(raisedBy('PutKeyPolicy', lambda, ofAnyKey)).toEqual(['key-changes'])
  })
})

describe('a signature', () => {
  it('a person who calls Sign raises the alarm foreign-signatures, even if KMS refuses', () => {
    for (const caller of [administrator, user, {}])
      for (const detail of [rs256, { errorCode: 'AccessDenied', requestParameters: null }])
        expect(raisedBy('Sign', caller, { ...ofAnyKey, ...detail })).toEqual(['foreign-signatures'])
  })

  it('signatures made by functions of any stage, or with an algorithm that no token uses, raise no alarm', () => {
    for (const stage of ['prod', 'other'])
      expect(raisedBy('Sign', functionOf(stage, 'user-login-2fa'), rs256)).toEqual([])
    expect(raisedBy('Sign', user, { requestParameters: { signingAlgorithm: 'ECDSA_SHA_256' } })).toEqual([])
  })
})

it('both alarm rules deliver their events to the queue that the command `dlq` shows', async () => {
  const { deadLetters } = findQueue({ hasAlarms: true, namePrefix: 'account-service-prod-' }, 'key-changes')
  for (const name of ['key-changes', 'foreign-signatures'])
    expect(rules.find((rule) => rule.name.endsWith(name))?.targets).toMatchObject([
      { arn: `arn:aws:sqs:eu-central-1:123456789012:${deadLetters}` },
    ])
  const written = ofType(await synthesizeUnchecked('prod'), 'AWS::Events::Rule')
  const [changes, signatures] = written.filter(({ stack }) => stack === 'observability')
  for (const key of ['MacKey', 'TotpKey', 'EventKey']) expect(JSON.stringify(changes)).toContain(key)
  // CloudTrail logs calls of Sign as read events, and only a rule in this state receives read events.
  const state = 'ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS'
  expect(signatures?.resource.Properties['State']).toBe(state)
})

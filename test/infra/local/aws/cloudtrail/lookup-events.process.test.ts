import {
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  EnableKeyCommand,
} from '@aws-sdk/client-kms'
import { expect, test } from 'vitest'
import { functionModel, region, stackModel, startStack } from '../stack.ts'

interface Looked {
  Events: { EventName: string; Username: string; Resources: object[]; CloudTrailEvent: string }[]
}

/** Looks events up as the AWS SDKs do, or as older ones with the service's package in the target. */
async function lookUp(url: string, input: object, target = 'CloudTrail_20131101') {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=any/20261122/${region}/cloudtrail/aws4_request`,
      'x-amz-target': `${target}.LookupEvents`,
    },
    body: JSON.stringify(input),
  })
  return { status: response.status, body: (await response.json()) as Looked }
}

const by = (AttributeKey: string, AttributeValue: string) => ({
  LookupAttributes: [{ AttributeKey, AttributeValue }],
})

test('CloudTrail LookupEvents tells who changed a key, newest first, and what was refused', async () => {
  const { kms, as, endpoint } = await startStack(stackModel({ functions: [functionModel('thief')] }))
  const { KeyMetadata: key } = await kms.send(new CreateKeyCommand({}))
  const { KeyId, Arn } = key ?? expect.unreachable()
  await kms.send(new DescribeKeyCommand({ KeyId }))
  await kms.send(new DisableKeyCommand({ KeyId }))
  await expect(as('thief').kms.send(new EnableKeyCommand({ KeyId }))).rejects.toThrow()

  const ofKey = by('ResourceName', Arn ?? '')
  for (const target of [undefined, 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101']) {
    const { body } = await lookUp(endpoint.url, ofKey, target)
    expect(body.Events).toMatchObject([
      { EventName: 'EnableKey', Username: 'thief', Resources: [{ ResourceName: Arn }] },
      { EventName: 'DisableKey', Username: 'root' },
    ])
    const [refused, done] = body.Events.map(({ CloudTrailEvent: text }) => JSON.parse(text) as object)
    expect(refused).toMatchObject({ errorCode: 'AccessDeniedException', awsRegion: region })
    expect(done).not.toHaveProperty('errorCode')
  }
  const names = async (input: object) =>
    (await lookUp(endpoint.url, input)).body.Events.map(({ EventName: name }) => name)
  expect(await names(by('EventSource', 'kms.amazonaws.com'))).toEqual([
    'EnableKey',
    'DisableKey',
    'CreateKey',
  ])
  expect(await names({ ...by('EventName', 'DisableKey'), MaxResults: 1 })).toEqual(['DisableKey'])
  expect(await names(by('EventSource', 'sqs.amazonaws.com'))).toEqual([])
})

test('CloudTrail refuses an attribute that it does not know', async () => {
  const { endpoint } = await startStack(stackModel())
  expect((await lookUp(endpoint.url, by('Colour', 'red'))).status).toBe(400)
})

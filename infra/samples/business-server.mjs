// A business server that puts events on the bus, and learns from a queue of its own what became of each.
// With `npm start` running: npm run sample:business
import * as events from '@aws-sdk/client-eventbridge'
import * as sqs from '@aws-sdk/client-sqs'

const { EVENT_BUS_NAME: EventBusName = 'account-service', AWS_REGION: region = 'us-east-1' } = process.env
const { AWS_ENDPOINT_URL: endpoint = 'http://127.0.0.1:4566', AWS_ACCESS_KEY_ID } = process.env
const local = { endpoint, credentials: { accessKeyId: 'any', secretAccessKey: 'any' } }
const config = { region, ...(AWS_ACCESS_KEY_ID === undefined && local) }
const [bus, queues] = [new events.EventBridgeClient(config), new sqs.SQSClient(config)]
const now = Date.now()
const name = `business-server-${now}`

/** A queue that gets what becomes of the kinds of events that this server puts. */
async function listen(detailTypes) {
  const { QueueUrl } = await queues.send(new sqs.CreateQueueCommand({ QueueName: name }))
  const asked = { QueueUrl, AttributeNames: ['QueueArn'] }
  const { Attributes } = await queues.send(new sqs.GetQueueAttributesCommand(asked))
  const pattern = { source: ['account-service'], detail: { detail_type: detailTypes } }
  const EventPattern = JSON.stringify({ 'detail-type': ['event.applied', 'event.refused'], ...pattern })
  const { RuleArn } = await bus.send(new events.PutRuleCommand({ Name: name, EventBusName, EventPattern }))
  const allow = { Effect: 'Allow', Principal: { Service: 'events.amazonaws.com' }, Action: 'sqs:SendMessage' }
  const only = { Resource: Attributes.QueueArn, Condition: { ArnEquals: { 'aws:SourceArn': RuleArn } } }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...allow, ...only }] })
  await queues.send(new sqs.SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy } }))
  const Targets = [{ Id: 'queue', Arn: Attributes.QueueArn }]
  await bus.send(new events.PutTargetsCommand({ Rule: name, EventBusName, Targets }))
  return QueueUrl
}

/** Puts events of one user, in any order. Returns them by the ids that the bus gave them. */
async function put(user_id, details) {
  const Entries = details.map(([Source, DetailType, detail]) => {
    return { EventBusName, Source, DetailType, Detail: JSON.stringify({ user_id, ...detail }) }
  })
  const answer = await bus.send(new events.PutEventsCommand({ Entries }))
  if (answer.FailedEntryCount > 0) throw new Error('the bus refused an event: put it again')
  return new Map(answer.Entries.map(({ EventId }, i) => [EventId, details[i][3]]))
}

const QueueUrl = await listen(['user.registered', 'reward.granted', 'package.purchased'])
const reward = {
  reward_type: 'WELCOME',
  currency: 'USDT',
  earned_on: new Date(now).toISOString().slice(0, 10),
}
const buy = (amount) => ({ amount, at: now, payment: { wallet: 'reward', currency: 'USDT', amount } })
const waiting = await put(now, [
  [
    'business',
    'user.registered',
    { email: `${now}@example.com`, nickname: 'Zoe', registered_at: now },
    'a user',
  ],
  ['rewards', 'reward.granted', { ...reward, reward_id: `r-${now}`, amount: '30' }, 'a reward of 30'],
  ['business', 'package.purchased', { ...buy('20'), purchase_id: `p-${now}` }, 'a package for 20'],
  ['business', 'package.purchased', { ...buy('500'), purchase_id: `q-${now}` }, 'a package for 500'],
])
console.log('What lacks funds waits a minute for them.')
while (waiting.size > 0) {
  const asked = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 }
  for (const { Body, ReceiptHandle } of (await queues.send(new sqs.ReceiveMessageCommand(asked))).Messages ??
    []) {
    const { event_id, outcome, reason = '' } = JSON.parse(Body).detail
    // An outcome may come more than once, and those of others come, too.
    if (waiting.has(event_id)) console.log(`${waiting.get(event_id)}: ${outcome} ${reason}`.trim())
    waiting.delete(event_id)
    await queues.send(new sqs.DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  }
}
await bus.send(new events.RemoveTargetsCommand({ Rule: name, EventBusName, Ids: ['queue'] }))
await bus.send(new events.DeleteRuleCommand({ Name: name, EventBusName }))
await queues.send(new sqs.DeleteQueueCommand({ QueueUrl }))

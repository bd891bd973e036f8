// A business server that puts events on the bus, and learns from a queue of its own what became of each.
// With `npm start` running: npm run sample:business. For a stage, set EVENT_BUS_NAME and what the AWS SDK needs.
import * as events from '@aws-sdk/client-eventbridge'
import * as sqs from '@aws-sdk/client-sqs'

const { EVENT_BUS_NAME: EventBusName = 'account-service' } = process.env
const { AWS_ENDPOINT_URL: endpoint = 'http://127.0.0.1:4566' } = process.env
const [region, credentials] = ['us-east-1', { accessKeyId: 'any', secretAccessKey: 'any' }]
const local = { endpoint, region, credentials, useFipsEndpoint: false, useDualstackEndpoint: false }
// Only the local stack has a bus of this name: with it, nothing reaches AWS, whatever this machine is set to.
const config = EventBusName === 'account-service' ? local : {}
const [bus, queues] = [new events.EventBridgeClient(config), new sqs.SQSClient(config)]
process.on('uncaughtException', ({ code, message }) => {
  const hint = 'start the stack, or set AWS_ENDPOINT_URL to the address that it prints beside "AWS".'
  console.error(code === 'ECONNREFUSED' ? `Nothing answers at ${endpoint}: ${hint}` : message)
  process.exit(1)
})
const now = Date.now()
const Name = `business-server-${now}`
const detailTypes = ['user.registered', 'reward.granted', 'package.purchased']

// A queue that gets what becomes of the kinds of events that this server puts.
const { QueueUrl } = await queues.send(new sqs.CreateQueueCommand({ QueueName: Name }))
const asked = await queues.send(new sqs.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))
const { QueueArn: Arn } = asked.Attributes
const told = { source: ['account-service'], 'detail-type': ['event.applied', 'event.refused'] }
const EventPattern = JSON.stringify({ ...told, detail: { detail_type: detailTypes } })
const { RuleArn } = await bus.send(new events.PutRuleCommand({ Name, EventBusName, EventPattern }))
const sender = { Principal: { Service: 'events.amazonaws.com' }, Action: 'sqs:SendMessage', Resource: Arn }
const Statement = [{ Effect: 'Allow', ...sender, Condition: { ArnEquals: { 'aws:SourceArn': RuleArn } } }]
const Attributes = { Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }
await queues.send(new sqs.SetQueueAttributesCommand({ QueueUrl, Attributes }))
await bus.send(new events.PutTargetsCommand({ Rule: Name, EventBusName, Targets: [{ Id: 'queue', Arn }] }))

// A user, a reward, a package that the reward covers, and one that it does not: in any order.
const user = { email: `${now}@example.com`, nickname: 'Zoe', registered_at: now }
const today = new Date(now).toISOString().slice(0, 10)
const reward = { reward_id: `r-${now}`, reward_type: 'WELCOME', currency: 'USDT', earned_on: today }
const buy = (amount) => ({ amount, at: now, payment: { wallet: 'reward', currency: 'USDT', amount } })
const sent = [
  ['a user', 'business', 'user.registered', user],
  ['a reward of 30', 'rewards', 'reward.granted', { ...reward, amount: '30' }],
  ['a package for 20', 'business', 'package.purchased', { ...buy('20'), purchase_id: `p-${now}` }],
  ['a package for 500', 'business', 'package.purchased', { ...buy('500'), purchase_id: `q-${now}` }],
]
const Entries = sent.map(([, Source, DetailType, detail]) => {
  return { EventBusName, Source, DetailType, Detail: JSON.stringify({ user_id: now, ...detail }) }
})
const answer = await bus.send(new events.PutEventsCommand({ Entries }))
if (answer.FailedEntryCount > 0) throw new Error('the bus refused an event: put it again')

console.log('What lacks funds waits a minute for them.')
const waiting = new Map(answer.Entries.map(({ EventId }, i) => [EventId, sent[i][0]]))
while (waiting.size > 0) {
  const wanted = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 }
  const { Messages = [] } = await queues.send(new sqs.ReceiveMessageCommand(wanted))
  for (const { Body, ReceiptHandle } of Messages) {
    const { event_id, outcome, reason = '' } = JSON.parse(Body).detail
    // An outcome may come more than once, and those of others come, too.
    if (waiting.has(event_id)) console.log(`${waiting.get(event_id)}: ${outcome} ${reason}`.trim())
    waiting.delete(event_id)
    await queues.send(new sqs.DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  }
}
await bus.send(new events.RemoveTargetsCommand({ Rule: Name, EventBusName, Ids: ['queue'] }))
await bus.send(new events.DeleteRuleCommand({ Name, EventBusName }))
await queues.send(new sqs.DeleteQueueCommand({ QueueUrl }))

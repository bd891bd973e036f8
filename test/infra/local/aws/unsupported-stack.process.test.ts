import { expect, test } from 'vitest'
import type { PolicyStatement, StackModel } from '../../../../infra/local/model.ts'
import {
  arnOf,
  eventSourceModel,
  functionModel,
  queueModel,
  ruleModel,
  stackModel,
  startStack,
} from './stack.ts'

const statement: PolicyStatement = { Effect: 'Allow', Action: 'kms:Sign', Resource: '*' }
const queue = queueModel('work')

test.each<[string, Partial<StackModel>, RegExp]>([
  [
    'an unsupported condition key',
    {
      functions: [
        functionModel('worker', [{ ...statement, Condition: { StringEquals: { 'aws:SourceIp': 'x' } } }]),
      ],
    },
    /function worker cannot be evaluated: condition key aws:SourceIp/,
  ],
  [
    'a policy variable',
    { functions: [functionModel('worker', [{ ...statement, Resource: 'arn:aws:sqs:::${aws:username}' }])] },
    /policy variables/,
  ],
  [
    'an unsupported form of principal',
    {
      queues: [
        queueModel('work', { policies: [{ Statement: [{ ...statement, Principal: { Federated: 'x' } }] }] }),
      ],
    },
    /queue work cannot be evaluated: this form of Principal/,
  ],
  [
    'a schedule that is not a rate',
    { rules: [ruleModel('r', { schedule: 'cron(0 0 * * ? *)' })] },
    /schedule cron/,
  ],
  [
    'a rule target that is neither a queue nor a function',
    { rules: [ruleModel('r', { targets: [{ id: 't', arn: arnOf('sns', 'topic') }] })] },
    /neither a queue nor/,
  ],
  [
    'an unknown dead-letter queue',
    {
      queues: [queueModel('work', { redrive: { deadLetterArn: arnOf('sqs', 'none'), maxReceiveCount: 1 } })],
    },
    /unknown dead-letter queue/,
  ],
  [
    'a visibility timeout shorter than the function’s timeout',
    {
      queues: [{ ...queue, visibilityTimeoutSeconds: 2 }],
      functions: [functionModel('worker')],
      eventSources: [eventSourceModel(queue)],
    },
    /Queue visibility timeout: 2 seconds is less than Function timeout: 3 seconds/,
  ],
  [
    'a function that may send to its own source queue, which is a loop that Lambda stops',
    {
      queues: [queue],
      functions: [functionModel('worker', [{ Effect: 'Allow', Action: 'sqs:*', Resource: queue.arn }])],
      eventSources: [eventSourceModel(queue)],
    },
    /worker can send to work, the queue that feeds it/,
  ],
])('the AWS endpoint refuses to start a stack with %s', async (_what, changes, message) => {
  await expect(startStack(stackModel(changes))).rejects.toThrow(message)
})

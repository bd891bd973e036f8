import { arnOf, eventSourceModel, functionModel, queueModel, stackModel } from './models.ts'

const stuck = queueModel('stuck')

/**
 * A stack for tests of persistence: a queue without a consumer, a FIFO queue, and a queue whose function
 * never answers.
 */
export const persistentStack = stackModel({
  functions: [functionModel('worker', [{ Effect: 'Allow', Action: 'sqs:*', Resource: '*' }])],
  keys: [
    {
      keyId: '11111111-2222-3333-4444-555555555555',
      arn: arnOf('kms', 'key/11111111-2222-3333-4444-555555555555'),
      keySpec: 'HMAC_256',
      keyUsage: 'GENERATE_VERIFY_MAC',
      description: '',
      keyPolicy: undefined,
      tags: {},
    },
  ],
  queues: [queueModel('idle'), queueModel('tree.fifo'), stuck],
  eventSources: [eventSourceModel(stuck)],
})

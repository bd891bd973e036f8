import assert from 'node:assert/strict'
import {
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { putEvents } from '../../support/put-event.ts'
import { eventually } from './call.ts'
import type { SignedIn } from './sign-in.ts'
import { credit, expectWallet } from './wallet.ts'

const credits = ['1', '2', '4', '8']

/**
 * Delivers a batch in which one event is three times, among others of the same wallet, and checks that each
 * took effect exactly once. The function does not read its queue until all are in it. Run it after useWallet.
 */
export async function bookDuplicates(user: SignedIn, functionName: string): Promise<void> {
  const details = credits.map((amount) => credit(user, amount))
  const repeated = details.slice(0, 1)
  await pauseIntake(functionName, () => putEvents('wallet.adjusted', [...repeated, ...details, ...repeated]))
  // Every subset of 1, 2, 4 and 8 has a sum of its own.
  await expectWallet(user, '15.100000000000000001', 1 + credits.length)
}

/** Does something while a function does not read its queue. */
async function pauseIntake(functionName: string, work: () => Promise<void>): Promise<void> {
  const lambda = new LambdaClient(clientOptions())
  const find = async () => {
    const { EventSourceMappings: [mapping] = [] } = await lambda.send(
      new ListEventSourceMappingsCommand({ FunctionName: functionName }),
    )
    assert.ok(mapping?.UUID, `${functionName} reads no queue`)
    return mapping
  }
  const { UUID } = await find()
  const read = async (Enabled: boolean) => {
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled }))
    await eventually(async () =>
      assert.equal(
        (await find()).State,
        Enabled ? 'Enabled' : 'Disabled',
        'the queue’s reader did not change',
      ),
    )
  }
  try {
    await read(false)
    await work()
  } finally {
    await read(true)
    lambda.destroy()
  }
}

import { BatchWriteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { randomInt } from 'node:crypto'
import { db, tableName } from '../../../shared/db/table.ts'
import { readSlices, writeSlice } from '../../../shared/ledger/verify/slice.ts'
import { registerShards } from '../../../shared/ledger/wallet.ts'
import { signingKeySetKey } from '../../../shared/keys/set.ts'
import type { RotationResult } from '../../../shared/keys/run.ts'
import { buy, rename } from '../../support/community-events.ts'
import { addNewcomers } from '../../support/newcomers.ts'
import { addBills, addUser, chunkOfBills } from '../../support/ledger.ts'
import { FailedCall, type Scenario } from './calls.ts'
import { joinBelow, joinFamily } from './family.ts'

/** Deletes the key set, so that the next rotation run starts as the first run of a deployment does. */
async function clearKeySet(): Promise<void> {
  const { Items = [] } = await db.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': signingKeySetKey.pk },
      ProjectionExpression: 'pk, sk',
    }),
  )
  if (Items.length === 0) return
  const deletions = Items.map((Key) => ({ DeleteRequest: { Key } }))
  await db.send(new BatchWriteCommand({ RequestItems: { [tableName()]: deletions } }))
}

/** For each worker and each scheduled function, a scenario that uses all its IAM grants. */
export const backgroundScenarios: Record<string, Scenario> = {
  'worker-grow-tree': async ({ deliverMessage }) => {
    const { parent, child } = await joinFamily()
    await addNewcomers(child, 1, parent)
    await deliverMessage({ root_id: parent })
    await rename(child, 'Another name')
    await buy(child, '1')
    await joinBelow(parent, child + 1_000)
    await deliverMessage({ root_id: parent })
  },
  'verify-ledger': async ({ run }) => {
    // The next slice may be due when the function runs, so this slice gets a wallet, too.
    for (const ahead of [0, 1]) {
      const userId = randomInt(1, 2 ** 40) * registerShards + Math.floor(Date.now() / 300_000) + ahead
      await addBills({ userId: await addUser(userId), wallet: 'asset' }, chunkOfBills)
    }
    for (const slice of await readSlices())
      await writeSlice({ ...slice, started_at: 0, verified_at: 0, after: undefined })
    await run({})
  },
  'rotate-signing-keys': async ({ run }) => {
    // Throws if the rotation waits for KMS. A missing grant can be the cause of the wait.
    const rotate = async (call: object): Promise<RotationResult> => {
      const result = (await run(call)) as RotationResult
      if (result.waits_for_kms) throw new FailedCall('the rotation waits for KMS')
      return result
    }
    await clearKeySet()
    const { signer } = await rotate({})
    await rotate({ action: 'rotate', emergency: true })
    await rotate({ action: 'revoke', kid: signer })
    await rotate({})
  },
}

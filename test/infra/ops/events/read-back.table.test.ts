import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { randomInt, randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { areAddressesThere, isUserUpdated } from '../../../../infra/ops/events/read-back.ts'
import { db, tableName } from '../../../../shared/db/table.ts'
import { writeItem } from '../../../../shared/db/write.ts'
import { addressDigest, putAddress } from '../../../../shared/deposits/deposit-address.ts'
import { updateStamp } from '../../../../shared/registration/update.ts'
import { userKey } from '../../../../shared/users/user.ts'
import { addUser } from '../../../support/ledger.ts'

it('a user counts as disabled while their sessions are still to be ended', async () => {
  const userId = await addUser()
  const update = { userId, at: 1_700_000_000_000, updateId: randomUUID() }
  const set = (expression: string) =>
    db.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: userKey(userId),
        UpdateExpression: expression,
        ...(expression.startsWith('SET')
          ? { ExpressionAttributeValues: { ':stamp': updateStamp(update.at, update.updateId) } }
          : {}),
      }),
    )
  expect(await isUserUpdated(update, 'disabled')).toBe(false)
  await set('SET stamps.disabled = :stamp, revocation_due = :stamp')
  expect(await isUserUpdated(update, 'disabled')).toBe(false)
  await set('REMOVE revocation_due')
  expect(await isUserUpdated(update, 'disabled')).toBe(true)
  await expect(isUserUpdated({ ...update, at: update.at - 1 }, 'disabled')).rejects.toThrow('is later')
})

it('a batch of addresses counts as imported although a part of it is missing', async () => {
  const network = `N${randomInt(1e9)}`
  const [one, two] = [{ address: 'T1' }, { address: 'T2', tag: '7' }]
  const put = (address: { address: string; tag?: string }, batch: string) =>
    writeItem(
      putAddress(addressDigest({ network, ...address }), {
        ...address,
        currency: 'USDT',
        currency_network: network,
        required_confirmations: 1,
        batch_id: batch,
      }),
    )
  await put(one, 'batch')
  expect(await areAddressesThere(network, 'batch', [one, two])).toBe(false)
  await put(two, 'batch')
  expect(await areAddressesThere(network, 'batch', [one, two])).toBe(true)
  expect(await areAddressesThere(network, 'other', [one, two])).toBe(false)
})

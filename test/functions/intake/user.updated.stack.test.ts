import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { readSignInRecord } from '../../../shared/sign-in/record.ts'
import { putEvent, waitForDeadLetter } from '../../support/bus.ts'
import { createUser } from '../../support/sign-in.ts'

const detailType = 'user.updated'

test('user.updated on the bus updates a user; the same update id with other content becomes a dead letter', async () => {
  const { userId } = await createUser()
  const update = { update_id: randomUUID(), user_id: userId, at: Date.now(), nickname: 'New', passkey: true }
  await putEvent(detailType, update)
  await vi.waitFor(
    async () => expect(await readSignInRecord(userId)).toMatchObject({ nickname: 'New', passkey: true }),
    { timeout: 20_000, interval: 50 },
  )
  await putEvent(detailType, { ...update, nickname: 'Newer' })
  const { reason } = await waitForDeadLetter(detailType, update.update_id)
  expect(reason).toMatch(/^conflicting_content/)
})

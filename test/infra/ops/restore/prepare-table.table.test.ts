import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { handler as addressAssigned } from '../../../../functions/intake/address.assigned.ts'
import { handler as addressesProvisioned } from '../../../../functions/intake/addresses.provisioned.ts'
import { handler as walletAdjusted } from '../../../../functions/intake/wallet.adjusted.ts'
import { freeAddresses } from '../../../../infra/ops/restore/free-addresses.ts'
import { prepareTable } from '../../../../infra/ops/restore/prepare-table.ts'
import { findWallets, verifyLedger } from '../../../../infra/ops/verify-ledger.ts'
import { processTerminal } from '../../../../infra/ops/terminal.ts'
import { lastWriteBefore } from '../../../../shared/db/rest.ts'
import { addressDigest, findFreeAddress, readAddress } from '../../../../shared/deposits/address.ts'
import { claimAddress, readAssignment } from '../../../../shared/deposits/user-address.ts'
import { type Evidence, putEvidence } from '../../../../shared/keys/evidence.ts'
import { emptyKeySet, putArchived, type SigningKey, writeKeySet } from '../../../../shared/keys/set.ts'
import { checkAccessToken } from '../../../../shared/tokens/access-token.ts'
import { applyEvent } from '../../../support/apply-event.ts'
import { createAccessToken } from '../../../support/community.ts'
import { assignment, newPool, provision } from '../../../support/deposits.ts'
import { addUser, adjustment } from '../../../support/ledger.ts'
import { useOwnTable } from '../../../support/own-table.ts'
import { type Recorded, recordStates, restoreStates } from '../../../support/torn-table.ts'

let dropTable = async () => {}
beforeEach(async () => {
  dropTable = await useOwnTable()
})
afterEach(() => dropTable())

const hour = 3_600_000
const nextHour = () => Math.ceil(Date.now() / hour) * hour

it('an access_token from before a restore does not work after the restore', async () => {
  const token = await createAccessToken(await addUser(), ['account.read'])
  expect(await prepareTable(nextHour() + hour)).toMatchObject({ tokens: 1, late: [] })
  await expect(checkAccessToken(token, 'account.read')).rejects.toMatchObject({ failure: 'unauthenticated' })
})

// Such bookings may be incomplete.
it('prepareTable reports bookings of the hourly write pause', async () => {
  const restored = nextHour()
  const userId = await addUser()
  vi.useFakeTimers({ toFake: ['Date'], now: lastWriteBefore(restored) })
  const recorded = await recordStates(() => applyEvent(walletAdjusted, adjustment(userId)))
  vi.useRealTimers()
  const { late } = await prepareTable(restored)
  expect(late.map((key) => key.split('#', 1)[0]).sort()).toEqual(['BL', 'EVT'])
  // A bill written during the write pause is reported, even if nothing else of its event was restored.
  await restoreStates(recorded, ([before, after], i) =>
    recorded[i]?.key.pk.startsWith('BL#') ? after : before,
  )
  expect((await prepareTable(restored)).late).toHaveLength(1)
})

it('`restore prepare` and `ledger verify` notice a missing wallet by its first bill', async () => {
  const userId = await addUser()
  const recorded = await recordStates(() => applyEvent(walletAdjusted, adjustment(userId)))
  const wallet = recorded.filter(({ key }) => key.sk === 'HEAD')
  await restoreStates(wallet, ([before]) => before)
  expect((await prepareTable(nextHour() + hour)).no_wallet).toEqual([`BL#${userId}#asset 000000000001`])
  for (const user of [userId, undefined]) {
    const { differences } = await verifyLedger(await findWallets(user), processTerminal)
    expect(differences).toMatchObject([{ userId, what: 'number of stored bills' }])
  }
})

it.each([
  ['its user had not seen it', false],
  ['its user had seen it', true],
])('a partial restore never gives an address two owners: %s', async (_, isTold) => {
  const parts = 2 ** 3
  for (let part = 0; part < parts; part += 1) {
    const users = [await addUser(), await addUser()] as const
    const batch = provision(newPool(), 2)
    const pool = { currency: batch.currency, network: batch.currency_network }
    await applyEvent(addressesProvisioned, batch)
    const recorded = await recordStates(() => claimAddress(users[0], pool))
    expect(2 ** recorded.length).toBe(parts)
    const told = (await readAssignment(users[0], pool))?.address ?? expect.unreachable()
    // Users see an address only after the last write, which records that the event was sent.
    const state = ({ states }: Recorded) => (isTold ? states.at(-1) : states[1])
    await restoreStates(recorded, (states, i) =>
      (part >> i) & 1 ? state(recorded[i] ?? expect.unreachable()) : states[0],
    )
    await prepareTable(nextHour() + hour)
    await expect(claimAddress(users[1], pool)).rejects.toMatchObject({ failure: 'unavailable' })
    const event = assignment(pool, told.address, users[0], told.created_at)
    if (isTold) await applyEvent(addressAssigned, event)
    await freeAddresses()

    const mine = await claimAddress(users[0], pool)
    if (isTold) expect(mine).toEqual(told)
    const owners = await Promise.all(
      batch.addresses.map(async ({ address }) => {
        const stored = await readAddress(addressDigest({ network: pool.network, address }))
        return [address, stored?.user_id] as const
      }),
    )
    expect(new Map(owners).get(mine.address), `part ${part}`).toBe(users[0])
    const isOneFree = owners.some(([, owner]) => owner === undefined)
    expect((await findFreeAddress(pool)) !== undefined, `part ${part}`).toBe(isOneFree)
  }
})

const times = { published_at: 1, active_at: 1, retiring_at: 1, retired_at: 1, remove_after: 1, drain_ms: 1 }
const retired: SigningKey = { kid: 'retired', arn: 'arn', n: 'n', e: 'AQAB', state: 'retired', ...times }

it('a signing-key transition that a restore brings back in part can be made again', async () => {
  const first = { ...emptyKeySet, sequence: 1, keys: [retired] }
  const evidenceOf = (sequence: number) => ({ sequence }) as Evidence
  await writeKeySet(emptyKeySet, first, [putEvidence(evidenceOf(1))])
  const archive = () =>
    writeKeySet({ ...first, version: 1 }, { ...first, sequence: 2, keys: [] }, [
      putEvidence(evidenceOf(2)),
      putArchived(retired),
    ])
  const recorded = await recordStates(archive)
  await restoreStates(recorded, ([before, after], i) => (recorded[i]?.key.sk === 'RING' ? before : after))
  expect(await archive()).toBe(false)
  expect(await prepareTable(nextHour() + hour)).toMatchObject({ key_records: 2 })
  expect(await archive()).toBe(true)
  expect(await prepareTable(nextHour() + hour)).toMatchObject({ key_records: 0 })
})

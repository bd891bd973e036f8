import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect } from 'vitest'
import { invokeFunction } from '../../../infra/ops/invoke-function.ts'
import { tableName } from '../../../shared/db/table.ts'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { createAccessToken, newUserIds } from '../../support/community.ts'
import { newPool, provision } from '../../support/deposits.ts'
import { newDirectory } from '../../support/new-directory.ts'
import { putEvents } from '../../support/put-event.ts'
import { md5, newRegistration, toTestUser } from '../../support/sign-in.ts'
import { addressPath, get, readEverything, settle } from './answers.ts'
import { findings, follow, type Procedure } from './follow.ts'
import type { People } from './people.ts'
import { openTables } from './restore-table.ts'

/**
 * Tests the procedure for the loss of the whole table. After a replay of the archived events, the stage must
 * answer as before the loss. This test must run first: its replay begins at a full second, and would include
 * events of an earlier test.
 */
export async function aStageRebuiltFromItsEvents(
  url: string,
  people: People,
  layout: Record<string, unknown>,
): Promise<void> {
  const procedure = follow('A stage rebuilt from its events', url)
  const tables = openTables(layout)
  try {
    const startedAt = Date.now()
    const { users, network, registration } = await live(url)
    const before = await readEverything(url, users, network)
    const outbox = await readOutbox(url)

    const run = async (command: string) => expect((await procedure.ops(command)).code, command).toBe(0)
    await run('maintenance on')
    await tables.restore({ items: [] }, `${tableName()}-empty`)
    await tables.replace(tableName(), `${tableName()}-empty`)
    await run('maintenance off --only events')
    expect(await replay(procedure, startedAt)).toEqual(['deposit.updated unknown_address'])
    await run('ledger verify')
    await run('maintenance off')
    expect(await readEverything(url, users, network)).toEqual(before)
    expect(await readOutbox(url)).toEqual(outbox)

    await invokeFunction('rotate-signing-keys', {})
    await people.signIn(toTestUser(registration))
    for (const finding of await findings(procedure)) {
      const [name, ARN = ''] = finding.split(' ')
      expect(name).toBe('unknown_key')
      await procedure.aws('aws kms disable-key --key-id ARN', { ARN })
    }
    // The refused deposit has two dead letters, one from before the replay and one from the replay.
    const FILE = join(newDirectory(), 'dropped.ndjson')
    const drop = async (NAME: string) =>
      (await procedure.ops('dlq drop NAME --save FILE --yes', { NAME, FILE })).result
    expect(await drop('wallet.adjusted')).toMatchObject({ dropped: 1 })
    expect(await drop('deposit.updated')).toMatchObject({ dropped: 2 })
  } finally {
    tables.close()
  }
}

/** Creates two users, sends events of most kinds about them, and requests a deposit address for each user. */
export async function live(url: string) {
  const registration = newRegistration({ user_id: newUserIds() })
  const parent = Number(registration['user_id'])
  const child = parent + 1
  const pool = newPool()
  // The rates are an hour old, so that they can be replaced later.
  const at = Date.now() - 3_600_000
  const money = { currency: 'USDT', at }
  await putEvents('user.registered', [registration])
  await settle(url)
  await putEvents('user.registered', [newRegistration({ user_id: child, referrer_id: parent })])
  await putEvents('addresses.provisioned', [provision(pool, 4)])
  await putEvents('rates.published', [{ quote: 'USDT', as_of: at, rates: { BTC: '100000', USDT: '1' } }])
  await settle(url)
  // The balance is still zero, so this debit is refused. A replay must not apply it to a later balance.
  const early = { adjustment_id: randomUUID(), user_id: child, wallet: 'reward', direction: 2, ...money }
  await putEvents('wallet.adjusted', [{ ...early, amount: '5', reason: 'too early' }])
  await settle(url)
  const reward = { user_id: child, reward_type: 'NODE', earned_on: new Date(at).toISOString().slice(0, 10) }
  await putEvents('reward.granted', [
    { ...reward, reward_id: randomUUID(), currency: 'USDT', amount: '30.5' },
    { ...reward, reward_id: randomUUID(), currency: 'BTC', amount: '0.01' },
  ])
  const device = { device_id: randomUUID(), user_id: child }
  await putEvents('device.activated', [{ ...device, at }])
  await putEvents('traffic.reported', [{ ...device, report_id: randomUUID(), bytes: 5_000_000_000, at }])
  await putEvents('user.updated', [{ update_id: randomUUID(), user_id: child, at, nickname: 'Renamed' }])
  const [address] = await Promise.all(
    [child, parent].map(async (userId) => {
      const token = await createAccessToken(userId, [...scopes])
      const answer = await get(url, token, addressPath(pool.network))
      return (answer as { data: { address: string } }).data.address
    }),
  )
  const adjustment = { wallet: 'asset', direction: 1, reason: 'a welcome', ...money }
  await putEvents('wallet.adjusted', [
    { ...adjustment, adjustment_id: randomUUID(), user_id: parent, amount: '100' },
  ])
  const deposit = { currency_network: pool.network, currency: 'USDT', output_index: 0, confirmations: 12, at }
  await putEvents('deposit.updated', [
    { ...deposit, txid: randomUUID(), address, amount: '7.25', status: 'confirmed' },
    { ...deposit, txid: randomUUID(), address: 'nobodys', amount: '1', status: 'pending' },
  ])
  await settle(url)
  const payment = { wallet: 'asset', currency: 'USDT', amount: '20' }
  await putEvents('package.purchased', [
    { purchase_id: randomUUID(), user_id: parent, amount: '50', at, payment },
    { purchase_id: randomUUID(), user_id: child, amount: '70', at },
  ])
  await putEvents('wallet.transferred', [
    { transfer_id: randomUUID(), user_id: child, from: 'reward', to: 'asset', amount: '10', ...money },
  ])
  const withdrawal = { withdrawal_id: randomUUID(), user_id: parent, amount: '3.5', ...money }
  await putEvents('withdrawal.updated', [{ ...withdrawal, status: 'requested' }])
  await settle(url)
  await putEvents('withdrawal.updated', [{ ...withdrawal, status: 'settled' }])
  await putEvents('mail.requested', [
    {
      kind: 'code',
      mail_id: randomUUID(),
      to: `${md5(String(parent))}@example.com`,
      code: '123456',
      expires_at: Date.now() + 600_000,
    },
  ])
  await settle(url)
  return { users: [parent, child] as const, network: pool.network, registration }
}

const readOutbox = async (url: string): Promise<unknown> => (await fetch(`${url}/_local/outbox`)).json()

/** Replays the archive, and returns the rejected events, each with the code of its rejection. */
export async function replay({ ops }: Procedure, from: number, to?: number): Promise<string[]> {
  const [INSTANT = '', END = ''] = [from, to ?? from].map((instant) => new Date(instant).toISOString())
  const command = `events replay --from INSTANT${to === undefined ? '' : ' --to END'}`
  const { code, result, err } = await ops(command, { INSTANT, END })
  const { applied, rejected } = result as {
    applied: boolean
    rejected: { detail_type: string; reason: string }[]
  }
  const isClean = rejected.length === 0
  expect([code, applied], err).toEqual([isClean ? 0 : 1, isClean])
  return rejected.map(({ detail_type: type, reason }) => `${type} ${reason.split(':', 1).join()}`)
}

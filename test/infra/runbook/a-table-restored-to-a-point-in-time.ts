import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { readKeyStatus } from '../../../infra/ops/keys/key-status.ts'
import { db, tableName } from '../../../shared/db/table.ts'
import { countFreeAddresses } from '../../../shared/deposits/address-pool.ts'
import { claimAddress } from '../../../shared/deposits/user-address.ts'
import { readWallet } from '../../../shared/ledger/wallet.ts'
import { checkAccessToken } from '../../../shared/tokens/access-token.ts'
import { readUser } from '../../../shared/users/user.ts'
import { describeWallet } from '../../support/ledger.ts'
import { putEvents } from '../../support/put-event.ts'
import { authenticatorCode, createUser, newUserId } from '../../support/sign-in.ts'
import { findings, follow, pollOptions, type Procedure, signerOf } from './follow.ts'
import {
  askForAddress,
  expectSame,
  expectSearchIndex,
  type Life,
  type LifeAnswers,
  readLife,
  readTown,
} from './life.ts'
import { kidOf, type People } from './people.ts'
import { sendEvents } from './send-events.ts'
import { openTables, tearApart } from './restore-table.ts'
import { newTown, type Town } from './waves.ts'

/** The procedure, stack, users and tables that the steps of the restore rehearsal share. */
interface Rehearsal {
  procedure: Procedure
  url: string
  people: People
  tables: ReturnType<typeof openTables>
  life: Life
  town: Town
  /** Directory for temporary files of the rehearsal. */
  directory: string
}

type Before = Awaited<ReturnType<typeof actBeforeRestorePoint>>
type After = Awaited<ReturnType<typeof actAfterRestorePoint>>

/**
 * Rehearses the procedure for a table that is restored to a point in time. KMS, event senders and token
 * holders still have the changes that the restore loses. In the end users are answered as on a stack that has
 * lived through the same and never failed.
 */
export async function aTableRestoredToAPointInTime(
  url: string,
  people: People,
  layout: Record<string, unknown>,
  life: Life,
  readUnharmed: () => Promise<LifeAnswers>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rehearsal-'))
  const tables = openTables(layout)
  const procedure = follow('A table restored to a point in time', url)
  const town = newTown(url, people, life.town)
  const rehearsal = { procedure, url, people, tables, life, town, directory }
  try {
    const before = await actBeforeRestorePoint(rehearsal)
    const after = await actAfterRestorePoint(rehearsal, before)
    expect((await procedure.ops('maintenance on')).code).toBe(0)
    // A whole second, as the times of events have: what is sent from now on is not replayed.
    const stoppedAt = Math.floor(Date.now() / 1000) * 1000
    // Waits for the end of the maintenance, and needs what the restored table does not have.
    await putEvents('wallet.adjusted', life.adjustments.late)
    expect((await people.sendPassword(before.kept.user)).status).toBe(503)
    await checkAndReplaceTable(rehearsal, before, after)
    await endAllSessions(before)
    await replayEvents(rehearsal, before, after, stoppedAt)
    const signer = await repairKeys(rehearsal, before, after)
    expect((await procedure.ops('maintenance off')).code).toBe(0)
    await expectUsersBack(people, before, signer)
    await expectAddressesKept(url, before, after)
    await expectAsNeverFailed(rehearsal, after, await readUnharmed())
  } finally {
    tables.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * Creates the data before the restore point: two sessions, an unused login ticket, five bills, a published
 * key, a pool of three deposit addresses, one of them assigned, and two waves of everything else. Of what the
 * last bill and the second wave changed, the restored table has one half.
 */
async function actBeforeRestorePoint({ procedure, url, people, tables, life, town, directory }: Rehearsal) {
  const startedAt = Date.now()
  // Activates the published key, because only one key can be published at a time.
  await procedure.ops('keys rotate --emergency')
  const kept = await people.signIn(await createUser(life.kept))
  const ended = await people.signIn(await createUser(life.ended))
  const late = await createUser()
  const ticket = (await people.sendPassword(late)).data['login_ticket']
  const { pool, adjustments } = life
  await send(procedure, adjustments.before.slice(0, -1), directory)
  await putEvents('addresses.provisioned', [life.addresses])
  await expect.poll(() => countFreeAddresses(pool, 3), pollOptions).toBe(3)
  const address = await askForAddress(url, kept.user.userId, pool)
  await town.wave()
  await expectSearchIndex(life)
  await follow('A new key that fails its check', url).ops('keys rotate')
  const earlier = await tables.takeSnapshot(tableName())
  const tornAt = Date.now()
  await send(procedure, adjustments.before.slice(-1), directory)
  await town.wave()
  const later = await tables.takeSnapshot(tableName())
  const { keys } = await readKeyStatus()
  const published = keys.find(({ state }) => state === 'published') ?? expect.unreachable()
  return {
    kept,
    ended,
    sendCode: async () => people.sendCode(late, ticket, await authenticatorCode(late.totpSecret)),
    asset: { userId: kept.user.userId, wallet: 'asset' } as const,
    tornAt,
    keys,
    published,
    pool,
    address,
    startedAt,
    snapshot: { items: tearApart(earlier.items, later.items) },
  }
}

/**
 * Makes the changes that the restore will lose: seven bills, an assigned deposit address, a logout, a used
 * login ticket, two new signing keys and a revoked one, and a third wave of everything else. What clients are
 * answered in the end is what a stack that never failed answers.
 */
async function actAfterRestorePoint(
  { procedure, url, people, life, town, directory }: Rehearsal,
  before: Before,
) {
  const { ops } = procedure
  await town.wave()
  await send(procedure, life.adjustments.after, directory)
  const wallet = await readWallet(before.asset, { consistent: true })
  const address = await askForAddress(url, before.ended.user.userId, before.pool)
  await people.logOut(before.ended)
  expect(await people.read(before.ended.accessToken)).toBe(401)
  expect((await before.sendCode()).status).toBe(200)
  await ops('keys rotate --emergency')
  await ops('keys rotate --emergency')
  await ops('keys revoke KID', { KID: before.published.kid })
  const report = join(directory, 'audit.json')
  writeFileSync(report, JSON.stringify((await ops('keys audit')).result))
  const { keys } = await readKeyStatus()
  const newKeys = keys.filter(({ kid }) => !before.keys.some((key) => key.kid === kid))
  return {
    wallet,
    address,
    report,
    newKeys,
    answers: await readTown(url, life),
    deviceToken: await signedBy(people, newKeys.at(-1)?.kid),
    findings: [
      `disabled_behind_the_service ${before.published.kid}`,
      ...newKeys.map(({ arn }) => `unknown_key ${arn}`),
    ].sort(),
  }
}

async function checkAndReplaceTable({ procedure, tables }: Rehearsal, before: Before, after: After) {
  const restored = `${tableName()}-restored`
  await tables.restore(before.snapshot, restored)
  const words = { TABLE: restored, INSTANT: new Date(before.tornAt).toISOString() }
  expect((await procedure.ops('--table TABLE ledger torn --since INSTANT', words)).code).toBe(1)
  await procedure.ops('--table TABLE ledger mend --since INSTANT', words)
  expect((await procedure.ops('--table TABLE ledger torn --since INSTANT', words)).code).toBe(1)
  await procedure.ops('--table TABLE ledger mend --since INSTANT --apply', words)
  expect((await procedure.ops('--table TABLE ledger torn --since INSTANT', words)).code).toBe(0)
  expect((await procedure.ops('--table TABLE ledger verify', words)).code).toBe(0)
  const found = await findings(procedure, '--table TABLE keys audit', words)
  expect(found).toEqual(expect.arrayContaining(after.findings))
  const held = await pools(procedure, '--table TABLE addresses hold', words)
  expect(held).toContainEqual({ ...before.pool, done: 2, assigned: 0 })
  await tables.replace(tableName(), restored)
}

/** Checks that the ended session is valid again after the restore, until all tokens are deleted. */
async function endAllSessions({ ended }: Before) {
  const caller = () => checkAccessToken(ended.accessToken, 'account.read')
  expect(await caller()).toMatchObject({ userId: ended.user.userId })
  await deleteTokens()
  await expect(caller()).rejects.toMatchObject({ failure: 'unauthenticated' })
}

/**
 * Replays the events since some time before the restore point, and checks that the wallet is as before the
 * restore. Until that is done nobody is given an address that may be somebody else's.
 */
async function replayEvents({ procedure }: Rehearsal, before: Before, after: After, stoppedAt: number) {
  expect((await procedure.ops('maintenance off --only events')).code).toBe(0)
  const holdings = async () => describeWallet(await readWallet(before.asset, { consistent: true })).holdings
  expect(await holdings()).toEqual({ USDT: '0.4 0 0 0' })
  const [INSTANT, END] = [before.startedAt, stoppedAt].map((instant) => new Date(instant).toISOString())
  const words = { INSTANT: INSTANT ?? '', END: END ?? '' }
  const { code, err } = await procedure.ops('events replay --from INSTANT --to END', words)
  expect(code, err).toBe(0)
  expect(describeWallet(after.wallet).holdings).toEqual({ USDT: '0.57 0 0 0' })
  expect(await holdings()).toEqual({ USDT: '0.02 0 0 0' })
  expect((await procedure.ops('ledger verify')).code).toBe(0)
  await expect(claimAddress(newUserId(), before.pool)).rejects.toMatchObject({ failure: 'unavailable' })
  const released = await pools(procedure, 'addresses release')
  expect(released).toContainEqual({ ...before.pool, done: 1, assigned: 0 })
  // The worker of the trees has finished, and nothing is torn any more.
  const sinceTorn = { INSTANT: new Date(before.tornAt).toISOString() }
  expect((await procedure.ops('ledger torn --since INSTANT', sinceTorn)).result).toEqual({ torn: [] })
}

/** Checks that users have their addresses, also one who got it after the restore point, and nobody else. */
async function expectAddressesKept(url: string, { kept, ended, pool, address }: Before, after: After) {
  const addresses: unknown[] = []
  for (const userId of [kept.user.userId, ended.user.userId, newUserId(), newUserId()])
    addresses.push(await askForAddress(url, userId, pool))
  expect(addresses).toEqual([address, after.address, expect.any(String), 503])
  expect(new Set(addresses).size).toBe(4)
}

/**
 * Checks that everything is as before the loss, and as on a stack that never failed, and that all who
 * registered can sign in.
 */
async function expectAsNeverFailed(
  { url, people, life, town: { persons, pool } }: Rehearsal,
  { answers }: After,
  unharmed: LifeAnswers,
) {
  await expectSearchIndex(life)
  const town = readTown(url, life)
  expect(await town).toEqual(answers)
  expectSame(await readLife(url, life, town), unharmed)
  const asked = [...persons().map(({ userId }) => userId), newUserId()]
  const addresses = await Promise.all(asked.map((userId) => askForAddress(url, userId, pool)))
  expect(new Set(addresses).size).toBe(asked.length)
  for (const { userId, password, totpSecret } of persons()) {
    const { email } = (await readUser(userId)) ?? expect.unreachable()
    const { data } = await people.sendPassword({ userId, email, password, totpSecret })
    expect(data['login_ticket']).toEqual(expect.any(String))
  }
}

/** The pools of deposit addresses, as a command shows what it did with them. */
async function pools({ ops }: Procedure, command: string, words = {}): Promise<unknown> {
  const { code, result, err } = await ops(command, words)
  expect(code, err).toBe(0)
  return (result as { pools: unknown }).pools
}

/**
 * Repairs the signing keys. The key that is disabled in KMS must be revoked first, because an emergency
 * rotation would make it the signing key.
 */
async function repairKeys({ procedure, people }: Rehearsal, before: Before, after: After) {
  const { ops, aws } = procedure
  const disabled = 'schedule_disabled rotate-signing-keys'
  await expect.poll(() => findings(procedure), pollOptions).toEqual([...after.findings, disabled].sort())
  expect((await ops('keys rotate --emergency')).err).toContain('failed its check')
  await ops('keys revoke KID', { KID: before.published.kid })
  const signer = signerOf(await ops('keys rotate --emergency'))
  for (const { arn: ARN } of after.newKeys) await aws('aws kms disable-key --key-id ARN', { ARN })
  await expect.poll(() => findings(procedure), pollOptions).toEqual([disabled])
  expect(await people.verifies(after.deviceToken)).toBe(false)
  expect(await people.verifies(before.kept.deviceToken)).toBe(true)
  expect(await findings(procedure, 'keys audit --previous FILE', { FILE: after.report })).toEqual([
    expect.stringMatching(/^history_rewritten /),
    disabled,
  ])
  return signer
}

/** Checks that users can sign in again, and that a ticket that was used works again, for its ten minutes. */
async function expectUsersBack(people: People, { kept, sendCode }: Before, signer: string) {
  expect(await people.read(kept.accessToken)).toBe(401)
  expect(await people.verifies(await signedBy(people, signer))).toBe(true)
  expect((await sendCode()).status).toBe(200)
}

/** Sends `wallet.adjusted` events from a file with `event put`. */
const send = (procedure: Procedure, details: object[], directory: string): Promise<void> =>
  sendEvents(
    procedure,
    details.map((detail) => ({ 'detail-type': 'wallet.adjusted', detail })),
    directory,
  )

/** Returns a device_token signed by this key. Signs in repeatedly until the functions use the key. */
const signedBy = (people: People, kid: string | undefined): Promise<string> =>
  vi.waitFor(async () => {
    const { deviceToken } = await people.signIn()
    expect(kidOf(deviceToken)).toBe(kid)
    return deviceToken
  }, pollOptions)

/** Deletes all tokens in the table, as the runbook describes. */
async function deleteTokens(): Promise<void> {
  const { Items = [] } = await db.send(
    new ScanCommand({
      TableName: tableName(),
      FilterExpression: 'begins_with(sk, :token)',
      ExpressionAttributeValues: { ':token': 'TOKEN#' },
      ProjectionExpression: 'pk, sk',
    }),
  )
  for (const Key of Items) await db.send(new DeleteCommand({ TableName: tableName(), Key }))
}

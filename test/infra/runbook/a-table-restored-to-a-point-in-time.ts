import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { readKeyStatus } from '../../../infra/ops/keys/key-status.ts'
import { db, tableName } from '../../../shared/db/table.ts'
import { readWallet } from '../../../shared/ledger/wallet.ts'
import { adjustment, describeWallet } from '../../support/ledger.ts'
import { authenticatorCode, createUser } from '../../support/sign-in.ts'
import { findings, follow, patience, type Procedure, signerOf } from './follow.ts'
import { kidOf, type People } from './people.ts'
import { openTables } from './restore-table.ts'

const heading = 'A table restored to a point in time'

/** Writes events as their senders keep them, and sends the file. */
async function send({ ops }: Procedure, details: object[], directory: string): Promise<void> {
  const file = join(directory, randomUUID())
  const lines = details.map((detail) => JSON.stringify({ 'detail-type': 'wallet.adjusted', detail }))
  writeFileSync(file, lines.join('\n'))
  expect((await ops('event put FILE', { FILE: file })).code).toBe(0)
}

/** The table forgets all since a point in time; KMS, the senders of events and whoever holds a token do not. */
export async function aTableRestoredToAPointInTime(
  url: string,
  people: People,
  layout: Record<string, unknown>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rehearsal-'))
  const tables = openTables(layout)
  try {
    await rehearse(url, people, tables, directory)
  } finally {
    tables.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function rehearse(
  url: string,
  people: People,
  tables: ReturnType<typeof openTables>,
  directory: string,
): Promise<void> {
  const procedure = follow(heading, url)
  const { ops, aws } = procedure
  const TABLE = tableName()
  const restored = `${TABLE}-restored`

  // Before the point in time. Whatever waits to sign does so now, so that another key can wait.
  await ops('keys rotate --emergency')
  const stays = await people.signIn()
  const leaves = await people.signIn()
  const late = await createUser()
  const ticket = (await people.sendPassword(late)).data['login_ticket']
  const code = await authenticatorCode(late.totpSecret)
  const { userId } = stays.user
  const early = Array.from({ length: 5 }, () => adjustment(userId, { amount: '0.1' }))
  await send(procedure, early, directory)
  await follow('A new key that fails its check', url).ops('keys rotate')
  const known = (await readKeyStatus()).keys
  const published = known.find(({ state }) => state === 'published') ?? expect.unreachable()
  const point = await tables.remember(TABLE)

  // After it: what the table will not know.
  const since = Array.from({ length: 7 }, () => adjustment(userId, { amount: '0.01' }))
  await send(procedure, since, directory)
  const asset = { userId, wallet: 'asset' } as const
  const before = await readWallet(asset, { consistent: true })
  await people.logOut(leaves)
  expect(await people.read(leaves.accessToken)).toBe(401)
  expect((await people.sendCode(late, ticket, code)).status).toBe(200)
  await ops('keys rotate --emergency')
  await ops('keys rotate --emergency')
  await ops('keys revoke KID', { KID: published.kid })
  const anchor = join(directory, 'audit.json')
  writeFileSync(anchor, JSON.stringify((await ops('keys audit')).result))
  const forgotten = (await readKeyStatus()).keys.filter(({ kid }) => !known.some((key) => key.kid === kid))
  const doomed = await signedBy(people, forgotten.at(-1)?.kid)

  // The restored table is looked at before it serves.
  await tables.restore(point, restored)
  const words = { TABLE: restored }
  expect((await ops('--table TABLE ledger verify', words)).code).toBe(0)
  const named = [
    `disabled_behind_the_service ${published.kid}`,
    ...forgotten.map(({ arn }) => `unknown_key ${arn}`),
  ].sort()
  expect(await findings(procedure, '--table TABLE keys audit', words)).toEqual(expect.arrayContaining(named))
  await tables.replace(TABLE, restored)

  // Tokens and one-time things are as they were.
  expect(await people.read(leaves.accessToken)).toBe(200)
  expect((await people.sendCode(late, ticket, code)).status).toBe(200)
  await endSessions()
  expect(await people.read(leaves.accessToken)).toBe(401)
  expect(await people.read(stays.accessToken)).toBe(401)

  // Ledger: the senders repeat what the table has forgotten, and more.
  expect(describeWallet(await readWallet(asset, { consistent: true })).holdings).toEqual({
    USDT: '0.5 0 0 0',
  })
  await send(procedure, [...early, ...since], directory)
  const healed = await readWallet(asset, { consistent: true })
  expect(describeWallet(healed).holdings).toEqual(describeWallet(before).holdings)
  expect((await ops('ledger verify')).code).toBe(0)

  // Keys: those that are disabled go first, since an emergency would let the next one sign.
  await expect.poll(() => findings(procedure), patience).toEqual(named)
  expect((await ops('keys rotate --emergency')).err).toContain('failed its check')
  await ops('keys revoke KID', { KID: published.kid })
  const signer = signerOf(await ops('keys rotate --emergency'))
  for (const { arn: ARN } of forgotten) await aws('aws kms disable-key --key-id ARN', { ARN })
  await expect.poll(() => findings(procedure), patience).toEqual([])
  expect(await people.isTaken(doomed)).toBe(false)
  expect(await people.isTaken(stays.deviceToken)).toBe(true)
  expect(await people.isTaken(await signedBy(people, signer))).toBe(true)
  expect(await findings(procedure, 'keys audit --previous FILE', { FILE: anchor })).toEqual([
    expect.stringMatching(/^history_rewritten /),
  ])
}

/** A device_token of a key, which signs as soon as the functions have heard of it. */
const signedBy = (people: People, kid: string | undefined): Promise<string> =>
  vi.waitFor(async () => {
    const { deviceToken } = await people.signIn()
    expect(kidOf(deviceToken)).toBe(kid)
    return deviceToken
  }, patience)

/** Ends every session, as the runbook says that it can be done. */
async function endSessions(): Promise<void> {
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

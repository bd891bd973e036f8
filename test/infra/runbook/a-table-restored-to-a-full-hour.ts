import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { readKeyStatus } from '../../../infra/ops/keys/key-status.ts'
import { tableName } from '../../../shared/db/table.ts'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { createAccessToken } from '../../support/community.ts'
import { newDirectory } from '../../support/new-directory.ts'
import { newUserId } from '../../support/sign-in.ts'
import { live, replay } from './a-stage-rebuilt-from-its-events.ts'
import { addressPath, get, readEverything } from './answers.ts'
import { findings, follow, pollOptions, type Procedure, signerOf } from './follow.ts'
import { kidOf, type People } from './people.ts'
import { nextHour, openTables } from './restore-table.ts'

type Lived = Awaited<ReturnType<typeof live>>

const directory = newDirectory()

/**
 * Tests the procedure for a lost table. The procedure restores the table to a full hour, such as 14:00, but
 * does not restore KMS. Afterwards, users must get the same answers as before the loss.
 */
export async function aTableRestoredToAFullHour(
  url: string,
  people: People,
  layout: Record<string, unknown>,
): Promise<void> {
  const procedure = follow('A table restored to a full hour', url)
  const tables = openTables(layout)
  const run = async (command: string, words = {}) => {
    const { code, result, err } = await procedure.ops(command, words)
    expect(code, `${command}: ${err}`).toBe(0)
    return result
  }
  try {
    const startedAt = Date.now()
    const lives = [await live(url)]
    const session = await people.signIn()
    await publishKey(procedure, url)
    const { keys } = await readKeyStatus()
    const snapshot = await tables.takeSnapshot(tableName())

    const after = await live(url)
    lives.push(after)
    await people.logOut(session)
    const lost = await changeKeys(procedure, people, keys, join(directory, 'audit.json'))
    const answers = await readLives(url, lives)

    await run('maintenance on')
    const restored = `${tableName()}-restored`
    await tables.restore(snapshot, restored)
    const words = { TABLE: restored, HOUR: nextHour() }
    // The command refuses an HOUR that has not come, so the mocked Date.now returns HOUR once.
    vi.spyOn(Date, 'now').mockReturnValueOnce(Date.parse(words.HOUR))
    expect(await run('--table TABLE restore prepare --hour HOUR', words)).toMatchObject({ late: [] })
    await run('--table TABLE ledger verify', words)
    await tables.replace(tableName(), restored)
    await run('maintenance off --only events')
    const refusedBefore = 'deposit.updated unknown_address'
    expect(await replay(procedure, startedAt, Date.now())).toEqual(lives.map(() => refusedBefore))
    await run('ledger verify')
    await run('restore finish')
    const signer = await repairKeys(procedure, people, lost)
    await run('maintenance off')

    expect(await readLives(url, lives)).toEqual(answers)
    expect(await people.read(session.accessToken)).toBe(401)
    expect(await people.verifies(session.deviceToken)).toBe(true)
    expect(await people.verifies(await signedBy(people, signer))).toBe(true)
    await expectOtherAddress(url, after)
  } finally {
    tables.close()
  }
}

/** Replaces the signing key at once, and publishes the next key. */
async function publishKey({ ops }: Procedure, url: string): Promise<void> {
  await ops('keys rotate --emergency')
  await follow('A new key that fails its check', url).ops('keys rotate')
}

type Keys = Awaited<ReturnType<typeof readKeyStatus>>['keys']
type LostKeys = Awaited<ReturnType<typeof changeKeys>>

/** Replaces the signing key twice, and revokes the published key. The restored table lacks these changes. */
async function changeKeys(procedure: Procedure, people: People, before: Keys, report: string) {
  const { ops } = procedure
  const published = before.find(({ state }) => state === 'published') ?? expect.unreachable()
  await ops('keys rotate --emergency')
  await ops('keys rotate --emergency')
  await ops('keys revoke KID', { KID: published.kid })
  writeFileSync(report, JSON.stringify((await ops('keys audit')).result))
  const { keys } = await readKeyStatus()
  const added = keys.filter(({ kid }) => !before.some((key) => key.kid === kid))
  const unknown = [...(await findings(procedure)), ...added.map(({ arn }) => `unknown_key ${arn}`)]
  return { published, added, unknown, report, deviceToken: await signedBy(people, added.at(-1)?.kid) }
}

/**
 * Repairs the key set of the restored table. It still has a key that changeKeys revoked, and that KMS has
 * disabled. So an emergency rotation fails until this key is revoked again.
 */
async function repairKeys({ ops, ...procedure }: Procedure, people: People, lost: LostKeys): Promise<string> {
  const audited = (command?: string, words?: Record<string, string>) =>
    findings({ ops, ...procedure }, command, words)
  const disabled = 'schedule_disabled rotate-signing-keys'
  const revoked = ['deletion_scheduled', 'disabled_behind_the_service'].map(
    (finding) => `${finding} ${lost.published.kid}`,
  )
  const expected = [...revoked, disabled, ...lost.unknown].sort()
  await expect.poll(() => audited(), pollOptions).toEqual(expected)
  expect((await ops('keys rotate --emergency')).err).toContain('failed its check')
  await ops('keys revoke KID', { KID: lost.published.kid })
  const signer = signerOf(await ops('keys rotate --emergency'))
  for (const { arn: ARN } of lost.added) await procedure.aws('aws kms disable-key --key-id ARN', { ARN })
  const rest = [disabled, ...lost.unknown].sort()
  await expect.poll(() => audited(), pollOptions).toEqual(rest)
  expect(await people.verifies(lost.deviceToken)).toBe(false)
  const rewritten = await audited('keys audit --previous FILE', { FILE: lost.report })
  expect(rewritten).toEqual([expect.stringMatching(/^history_rewritten /), ...rest])
  return signer
}

const readLives = (url: string, lives: readonly Lived[]) =>
  Promise.all(lives.map(({ users, network }) => readEverything(url, users, network)))

/** Checks that addresses that were given to users after the restored hour are not given out again. */
async function expectOtherAddress(url: string, { users, network }: Lived): Promise<void> {
  const addresses = await Promise.all(
    [...users, newUserId()].map(async (userId) => {
      const token = await createAccessToken(userId, [...scopes])
      const { data } = (await get(url, token, addressPath(network))) as { data: { address: string } }
      return data.address
    }),
  )
  expect(new Set(addresses).size).toBe(addresses.length)
}

/** Returns a device_token signed by this key. Repeats the sign-in until the functions use the key. */
const signedBy = (people: People, kid: string | undefined): Promise<string> =>
  vi.waitFor(async () => {
    const { deviceToken } = await people.signIn()
    expect(kidOf(deviceToken)).toBe(kid)
    return deviceToken
  }, pollOptions)

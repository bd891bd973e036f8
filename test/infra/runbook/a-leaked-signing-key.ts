import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { readKeyStatus } from '../../../infra/ops/keys/key-status.ts'
import type { RotationResult } from '../../../shared/keys/run.ts'
import { findings, follow, pollOptions, signerOf } from './follow.ts'
import { kidOf, type People } from './people.ts'

const keyIn = async (state: string): Promise<string> =>
  (await readKeyStatus()).keys.find((key) => key.state === state)?.kid ?? expect.unreachable(state)

/** Follows steps 2 to 4 of the procedure for a leaked key. Resolves with the kid of the new signing key. */
export async function replaceKeys(url: string): Promise<string> {
  const { ops } = follow('A leaked signing key', url)
  const { result } = await ops('keys status')
  const { keys } = result as { keys: { kid: string; state: string }[] }
  const inState = (...states: string[]) => keys.filter(({ state }) => states.includes(state))
  const revoke = async (kid: string) =>
    expect(await ops('keys revoke KID', { KID: kid })).toMatchObject({ code: 0 })
  for (const { kid } of inState('published')) await revoke(kid)
  const rotated = await ops('keys rotate --emergency')
  const { retiring } = rotated.result as RotationResult
  const old = inState('active', 'retiring').map(({ kid }) => kid)
  expect(retiring.map(({ kid }) => kid).toSorted()).toEqual(old.toSorted())
  const rests = retiring.map(({ may_sign_milliseconds: rest }) => rest)
  expect(Math.max(...rests)).toBeGreaterThan(0)
  await wait(Math.max(...rests))
  for (const { kid } of retiring) await revoke(kid)
  return signerOf(rotated)
}

/**
 * Tests the procedure for a leaked signing key. The procedure replaces all keys, so that verifiers refuse
 * device_tokens that were signed with an old key.
 */
export async function aLeakedSigningKey(url: string, people: People): Promise<void> {
  const procedure = follow('A leaked signing key', url)
  const before = await people.signIn()
  const { ops } = follow('A new key that fails its check', url)
  await ops('keys rotate')
  const next = await keyIn('published')
  expect(await people.verifies(before.deviceToken)).toBe(true)

  const signer = await replaceKeys(url)

  expect(signer).not.toBe(next)
  await expect.poll(() => people.verifies(before.deviceToken), pollOptions).toBe(false)
  expect(await people.read(before.accessToken)).toBe(200)
  const after = await people.signIn()
  expect(kidOf(after.deviceToken)).toBe(signer)
  expect(await people.verifies(after.deviceToken)).toBe(true)
  expect(await findings(procedure)).toEqual([])
}

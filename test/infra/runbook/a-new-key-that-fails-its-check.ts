import { DisableKeyCommand } from '@aws-sdk/client-kms'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { kms } from '../../../shared/aws/kms.ts'
import { invokeFunction } from '../../../infra/ops/functions.ts'
import { keyIn, readKeySet } from '../../../shared/keys/set.ts'
import { activationDue } from '../../../shared/keys/times.ts'
import { settings } from '../../../shared/settings.ts'
import { findings, follow, pollOptions } from './follow.ts'
import { kidOf, type People } from './people.ts'

/**
 * Rehearses the procedure for a published key that cannot sign when it is due; the old key keeps signing
 * meanwhile.
 */
export async function aNewKeyThatFailsItsCheck(url: string, people: People): Promise<void> {
  const procedure = follow('A new key that fails its check', url)
  const { ops } = procedure
  const runOnSchedule = () => invokeFunction('rotate-signing-keys', {})
  const signer = keyIn((await readKeySet()).keys, 'active')?.kid
  await ops('keys rotate')
  const broken = keyIn((await readKeySet()).keys, 'published') ?? expect.unreachable()
  await kms.send(new DisableKeyCommand({ KeyId: broken.arn }))
  await wait(Math.max(0, activationDue(broken, settings()) - Date.now()))

  for (let run = 0; run < 2; run += 1) {
    await expect(runOnSchedule()).rejects.toThrow(`the signing key ${broken.kid} failed its check`)
  }
  expect((await ops('keys rotate --emergency')).code).toBe(1)
  expect(kidOf((await people.signIn()).deviceToken)).toBe(signer)
  expect(await findings(procedure)).toContain(`disabled_behind_the_service ${broken.kid}`)

  expect((await ops('keys revoke KID', { KID: broken.kid })).code).toBe(0)
  await runOnSchedule()
  expect((await ops('keys rotate')).code).toBe(0)
  const { keys } = await readKeySet()
  expect(keys.map(({ state }) => state)).toEqual(expect.arrayContaining(['active', 'published']))
  expect(keys.some(({ kid }) => kid === broken.kid)).toBe(false)
  await expect.poll(() => findings(procedure), pollOptions).toEqual([])
}

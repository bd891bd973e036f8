import { DisableKeyCommand, ScheduleKeyDeletionCommand } from '@aws-sdk/client-kms'
import { expect } from 'vitest'
import { kms } from '../../../shared/aws/kms.ts'
import { activeKey, readKeySet } from '../../../shared/keys/set.ts'
import { createUser } from '../../support/sign-in.ts'
import { replaceKeys } from './a-leaked-signing-key.ts'
import { findings, follow, pollOptions } from './follow.ts'
import { kidOf, type People } from './people.ts'

/** Rehearses the procedure for a signing key that somebody disabled or scheduled for deletion in KMS. */
export async function aDisabledKey(url: string, people: People): Promise<void> {
  const procedure = follow('A disabled key', url)
  const signer = activeKey(await readKeySet()) ?? expect.unreachable()
  const words = { ARN: signer.arn }
  const expectOutage = async () => {
    expect(await people.tryToSignIn(await createUser())).toMatchObject({ status: 503, retryAfter: '5' })
    expect(await findings(procedure)).toContain(`disabled_behind_the_service ${signer.kid}`)
  }

  await kms.send(new DisableKeyCommand({ KeyId: signer.arn }))
  await expectOutage()
  await procedure.aws('aws kms enable-key --key-id ARN', words)
  expect(kidOf((await people.signIn()).deviceToken)).toBe(signer.kid)
  expect(await findings(procedure)).toEqual([])

  await kms.send(new ScheduleKeyDeletionCommand({ KeyId: signer.arn, PendingWindowInDays: 7 }))
  await expectOutage()
  await procedure.aws('aws kms cancel-key-deletion --key-id ARN', words)
  await procedure.aws('aws kms enable-key --key-id ARN', words)
  expect(kidOf((await people.signIn()).deviceToken)).toBe(signer.kid)

  await kms.send(new DisableKeyCommand({ KeyId: signer.arn }))
  const successor = await replaceKeys(url)
  expect(kidOf((await people.signIn()).deviceToken)).toBe(successor)
  await expect.poll(() => findings(procedure), pollOptions).toEqual([])
}

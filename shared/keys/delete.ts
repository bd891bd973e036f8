import { ScheduleKeyDeletionCommand } from '@aws-sdk/client-kms'
import { setTimeout as wait } from 'node:timers/promises'
import { kms } from '../aws/kms.ts'
import { log } from '../log.ts'
import { readKeySet } from './set.ts'
import { findOwnKeys, readKeyState } from './kms.ts'
import { isUnusable } from './sign.ts'

/** The shortest waiting period that KMS allows; a key in it cannot sign (AWS KMS: ScheduleKeyDeletion). */
const waitingDays = 7

/** How often and how long to look for keys whose tags KMS does not show yet, for up to five minutes. */
const pauseMilliseconds = 20_000
const maxLooks = 18

/**
 * Schedules the deletion of every signing key of this deployment, whether a record names it or not. For a
 * stage that is removed with its data. It can be repeated safely. Resolves with the ARNs of all its keys.
 */
export async function deleteSigningKeys(pause: (milliseconds: number) => unknown = wait): Promise<string[]> {
  const recorded = await listRecordedKeys()
  for (let looks = 1; ; looks += 1) {
    const deleted = await deleteVisibleKeys()
    const hidden = recorded.filter((arn) => !deleted.includes(arn))
    if (hidden.length === 0) return deleted
    // A key that stays hidden for longer than KMS lags has been deleted before.
    if (looks === maxLooks) {
      log.warn('signing keys on record were not found', { arns: hidden })
      return deleted
    }
    await pause(pauseMilliseconds)
  }
}

async function listRecordedKeys(): Promise<string[]> {
  const { keys, attempt, orphaned_attempts: orphans } = await readKeySet()
  return [...keys, ...orphans, ...(attempt ? [attempt] : [])].flatMap(({ arn }) => arn ?? [])
}

async function deleteVisibleKeys(): Promise<string[]> {
  const deleted: string[] = []
  for (const { arn } of await findOwnKeys()) if (await scheduleDeletion(arn)) deleted.push(arn)
  return deleted
}

/** Schedules a key's deletion. Resolves with whether KMS has it scheduled, now or since before. */
async function scheduleDeletion(arn: string): Promise<boolean> {
  try {
    await kms.send(new ScheduleKeyDeletionCommand({ KeyId: arn, PendingWindowInDays: waitingDays }))
    return true
  } catch (error) {
    if (!isUnusable(error)) throw error
    // KMS answers so while it lags, and when the deletion is scheduled already.
    return (await readKeyState(arn)) === 'PendingDeletion'
  }
}

import {
  KMSInvalidStateException,
  ListResourceTagsCommand,
  paginateListKeys,
  ScheduleKeyDeletionCommand,
} from '@aws-sdk/client-kms'
import { setTimeout as wait } from 'node:timers/promises'
import { kms } from '../aws/kms.ts'
import { requireEnv } from '../env.ts'
import { log } from '../log.ts'
import { signingKeyTagName } from './key-names.ts'
import { readKeySet } from './key-set.ts'

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
  const recorded = (await readKeySet()).keys.map(({ arn }) => arn)
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

async function deleteVisibleKeys(): Promise<string[]> {
  const deleted: string[] = []
  for await (const { Keys = [] } of paginateListKeys({ client: kms, pageSize: 1000 }, {}))
    for (const { KeyArn: arn } of Keys)
      if (arn !== undefined && (await isOwn(arn))) {
        await scheduleDeletion(arn)
        deleted.push(arn)
      }
  return deleted
}

/** Whether a key carries this deployment's tag. IAM policies allow reading the tags of such keys only. */
async function isOwn(arn: string): Promise<boolean> {
  try {
    const { Tags = [] } = await kms.send(new ListResourceTagsCommand({ KeyId: arn }))
    const tag = Tags.find(({ TagKey }) => TagKey === signingKeyTagName)?.TagValue
    return tag === requireEnv('SIGNING_KEY_TAG')
  } catch (error) {
    const isForeign = error instanceof Error && /^(AccessDenied|NotFound)Exception$/.test(error.name)
    if (isForeign) return false
    throw error
  }
}

async function scheduleDeletion(arn: string): Promise<void> {
  try {
    await kms.send(new ScheduleKeyDeletionCommand({ KeyId: arn, PendingWindowInDays: waitingDays }))
  } catch (error) {
    // The key's deletion has been scheduled before.
    if (!(error instanceof KMSInvalidStateException)) throw error
  }
}

import { DisableRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { DisableKeyCommand, ScheduleKeyDeletionCommand } from '@aws-sdk/client-kms'
import { expect } from 'vitest'
import { kms } from '../../../../shared/aws/kms.ts'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { requireEnv } from '../../../../shared/env.ts'
import { writeItem } from '../../../../shared/db/write.ts'
import { keyIn, readKeySet, signingKeySetKey } from '../../../../shared/keys/set.ts'
import { findings } from '../follow.ts'
import type { AlarmRehearsal } from './room.ts'

const rotation = 'rotate-signing-keys'
let broken = ''

/** The command that shows who changed keys. */
export const lookUpKeyChanges =
  'aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventSource,AttributeValue=kms.amazonaws.com'

/** The rehearsal of a schedule that is off: `doctor` names it, and the runbook switches it on. */
export const scheduleOff = (
  NAME: string,
  alarm: string,
  journey: string,
  heading: string,
): AlarmRehearsal => ({
  cause: `the schedule of ${NAME} is off`,
  raises: [alarm],
  journey,
  fault: async () => {
    const client = new EventBridgeClient(clientOptions())
    await client.send(new DisableRuleCommand({ Name: NAME }))
    client.destroy()
  },
  minutes: 64,
  mend: async ({ section, run }) => {
    const { ops, aws } = section(heading)
    const { checks } = (await ops('doctor')).result as { checks: { check: string; words: string }[] }
    expect(checks.find(({ check }) => check === 'rules')?.words).toBe(`${NAME} is DISABLED`)
    await aws('aws events enable-rule --name NAME', { NAME })
    await run(NAME)
  },
  quietMinutes: 1,
})

/** Makes it two hours since the published key was published. */
async function age(kid: string): Promise<void> {
  const { keys } = await readKeySet()
  const index = keys.findIndex((key) => key.kid === kid)
  await writeItem({
    Update: {
      Key: signingKeySetKey,
      UpdateExpression: `SET #keys[${index}].published_at = :at`,
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: { '#keys': 'keys' },
      ExpressionAttributeValues: { ':at': Date.now() - 2 * 3_600_000 },
    },
  })
}

/** The alarms on the signing keys and their rotation. */
export const keyAlarms: AlarmRehearsal[] = [
  scheduleOff(rotation, 'rotation-silent', 'keys', 'rotation-overdue'),
  {
    cause: 'somebody disabled a new signing key, so that it fails its check for two hours',
    raises: ['key-changes', `${rotation}-errors`, 'rotation-overdue'],
    journey: 'keys',
    async fault({ section, run, counted }) {
      await section('A new key that fails its check').ops('keys rotate')
      const key = keyIn((await readKeySet()).keys, 'published') ?? expect.unreachable()
      broken = key.kid
      await kms.send(new DisableKeyCommand({ KeyId: key.arn }))
      await age(broken)
      expect(await run(rotation)).toMatchObject({ functionError: 'Unhandled' })
      await counted('RotationOverdueSeconds', 3_600)
    },
    async mend({ section, run }) {
      const { Events: changes } = (await section('key-changes').aws(lookUpKeyChanges)) as { Events: object[] }
      expect(changes[0]).toMatchObject({ EventName: 'DisableKey', Username: 'root' })
      const { result } = await section('rotation-overdue').ops('keys status')
      expect(result).toMatchObject({
        keys: expect.arrayContaining([
          expect.objectContaining({ kid: broken, state: 'published' }),
        ]) as object[],
      })
      const procedure = section('A new key that fails its check')
      expect(await findings(procedure)).toContain(`disabled_behind_the_service ${broken}`)
      const ARN = (await readKeySet()).keys.find(({ kid }) => kid === broken)?.arn ?? ''
      await procedure.aws('aws kms enable-key --key-id ARN', { ARN })
      expect(await run(rotation)).toMatchObject({ functionError: undefined })
      expect(keyIn((await readKeySet()).keys, 'active')?.kid).toBe(broken)
    },
  },
  {
    cause: 'somebody schedules the deletion of the key of passwords',
    raises: ['key-changes'],
    journey: 'keys',
    async fault() {
      const KeyId = requireEnv('MAC_KEY_ID')
      await kms.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }))
    },
    async mend({ section, people }) {
      const { aws } = section('key-changes')
      const words = { ARN: requireEnv('MAC_KEY_ID') }
      await aws('aws kms cancel-key-deletion --key-id ARN', words)
      await aws('aws kms enable-key --key-id ARN', words)
      await people.signIn()
    },
  },
]

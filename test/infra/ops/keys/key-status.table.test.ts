import { DisableKeyCommand } from '@aws-sdk/client-kms'
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { handler as rotate } from '../../../../functions/schedule/rotate-signing-keys.ts'
import { checkKeys, readKeyStatus } from '../../../../infra/ops/keys/key-status.ts'
import { kms } from '../../../../shared/aws/kms.ts'
import { requireEnv } from '../../../../shared/env.ts'
import { useOwnKeys } from '../../../support/own-keys.ts'

useOwnKeys()
const call = (event: object) => rotate(event, { awsRequestId: randomUUID() })

it('`keys status` lists every signing key, including retired keys, and every transition', async () => {
  expect(await readKeyStatus()).toEqual({ keys: [], evidence: [], attempt: null, next_due: null })
  const { signer } = await call({})
  await call({ action: 'revoke', kid: signer })
  await call({ action: 'rotate' })
  const status = await readKeyStatus()
  expect(status.keys.map(({ state }) => state)).toEqual(['retired', 'active', 'published'])
  expect(status.keys[0]).toMatchObject({ kid: signer, retired_at: expect.any(Number) as number })
  expect(status.evidence.map(({ action }) => action)).toEqual(['bootstrap', 'revoke', 'disable', 'publish'])
  expect(status.next_due).toBeGreaterThan(Date.now())
})

it('doctor reports a signing key or an evidence key that is disabled in KMS', async () => {
  const { keys } = await readKeyStatus()
  const { kid, arn = '' } = keys.find(({ state }) => state === 'active') ?? {}
  const well = expect.stringContaining(`${kid} signs, next step due`) as string
  expect(await checkKeys(requireEnv('EVIDENCE_KEY_ID'))).toEqual({ ok: true, words: well })
  await kms.send(new DisableKeyCommand({ KeyId: arn }))
  const problem = (name: string) => `the ${name} key ${arn} cannot sign: it is Disabled in KMS`
  const words = `${problem('signing')}; ${problem('evidence')}`
  expect(await checkKeys(arn)).toEqual({ ok: false, words })
})

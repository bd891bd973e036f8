import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { handler as rotate } from '../../../../functions/schedule/rotate-signing-keys.ts'
import { readKeyStatus } from '../../../../infra/ops/keys/key-status.ts'
import { useOwnKeys } from '../../../support/own-keys.ts'

useOwnKeys()
const call = (event: object) => rotate(event, { awsRequestId: randomUUID() })

it('keys status lists every signing key, including retired keys, and every transition', async () => {
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

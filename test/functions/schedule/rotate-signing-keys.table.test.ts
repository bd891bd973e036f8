import { DisableKeyCommand, LimitExceededException } from '@aws-sdk/client-kms'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { handler } from '../../../functions/schedule/rotate-signing-keys.ts'
import { findFreePort } from '../../../infra/local/http/bind-server.ts'
import { kms } from '../../../shared/aws/kms.ts'
import { requireEnv } from '../../../shared/env.ts'
import { activeKey, keyIn, toJwks, readKeySet } from '../../../shared/keys/set.ts'
import { readEvidence } from '../../../shared/keys/evidence.ts'
import { disableKey, readKeyState } from '../../../shared/keys/kms.ts'
import { listOwnKeys, useOwnKeys } from '../../support/own-keys.ts'
import { expectSoundKeySet } from '../../support/expect-sound-key-set.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { awsError, runAndDieAt, tamperCalls } from '../../support/tamper-calls.ts'

const { renew } = useOwnKeys()
const minute = 60_000
const day = 86_400_000

const passTime = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)
const invoke = (event: object) => handler(event, { awsRequestId: randomUUID() })
const signer = async () => activeKey(await readKeySet())?.kid
const published = async () => toJwks((await readKeySet()).keys).keys.map(({ kid }) => kid)

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  await renew()
})
it('the rotation gives a new deployment its first signing key, and records signed evidence of the change', async () => {
  await invoke({})
  await expectSoundKeySet()
  const [first] = await readEvidence()
  expect(first).toMatchObject({
    sequence: 1,
    action: 'bootstrap',
    trigger: { kind: 'clock' },
    old_kid: null,
    new_kid: await signer(),
    check: { signed: true, verified_by_kms: true, verified_by_jwk: true },
    next_due: Date.now() + 29 * day,
  })
})

describe('if KMS throttles', () => {
  let first: string | undefined
  let giveWay = () => {}
  beforeEach(async () => {
    await invoke({})
    first = await signer()
    passTime(29 * day)
    await invoke({})
    passTime(day)
    // Throws the error without a call, because the SDK would retry a throttled call for seconds.
    const throttling = tamperCalls(async ({ name, perform }) => {
      if (name === 'SignCommand') throw awsError('ThrottlingException')
      return perform()
    })
    giveWay = throttling.restore
  })
  afterEach(() => giveWay())

  it('a scheduled rotation, the next run continues it', async () => {
    const metrics = await emittedMetrics(async () => {
      expect(await invoke({})).toMatchObject({ signer: first, transitions: [], waits_for_kms: true })
    })
    const failures = metrics.filter(({ name }) => name === 'Unavailable' || name === 'Faults')
    expect(failures).toEqual([{ name: 'Unavailable', value: 1, dimensions: { cause: 'throttled' } }])
    giveWay()
    expect(await signer()).toBe(first)
    await invoke({})
    expect(await signer()).not.toBe(first)
    await expectSoundKeySet()
  })

  it('a requested rotation, that run fails with the throttling error', async () => {
    await expect(invoke({ action: 'rotate' })).rejects.toThrow('ThrottlingException')
    giveWay()
    expect(await signer()).toBe(first)
  })
})

it('scheduled runs rotate the signing key without any request, twice in a row', async () => {
  await invoke({})
  const signers = new Set([await signer()])
  for (let turn = 0; turn < 2; turn += 1) {
    passTime(29 * day)
    await invoke({})
    passTime(day)
    await invoke({})
    signers.add(await signer())
    passTime(2 * day)
    await invoke({})
  }
  expect(signers.size).toBe(3)
  expect(await published()).toHaveLength(1)
  await expectSoundKeySet()
  const actions = (await readEvidence()).map(({ action }) => action)
  expect(actions).toEqual([
    'bootstrap',
    ...Array.from({ length: 2 }, () => ['publish', 'activate', 'retire', 'disable']).flat(),
  ])
})

it('the evidence of a requested rotation records who requested it', async () => {
  await invoke({})
  passTime(1)
  await invoke({ action: 'rotate', requested_by: 'an operator' })
  expect((await readEvidence()).at(-1)).toMatchObject({
    action: 'publish',
    trigger: { kind: 'rotate', requested_by: 'an operator' },
  })
  await expectSoundKeySet()
})

it('an emergency rotation reports how long functions might still sign with the old key', async () => {
  await invoke({})
  const old = await signer()
  passTime(1)
  const { retiring } = await invoke({ action: 'rotate', emergency: true })
  // Functions cache the key set for 60 s. A further 3 s allow for the write and for clock skew.
  expect(retiring).toEqual([{ kid: old, may_sign_milliseconds: 63_000 }])
  passTime(43_000)
  expect((await invoke({})).retiring).toEqual([{ kid: old, may_sign_milliseconds: 20_000 }])
  passTime(20_000)
  expect((await invoke({})).retiring).toEqual([{ kid: old, may_sign_milliseconds: 0 }])
})

it('a revoked signing key leaves the JWKS at once and is deleted in KMS; another key signs', async () => {
  await invoke({})
  passTime(1)
  await invoke({ action: 'rotate', emergency: true })
  passTime(2 * day)
  const revoked = activeKey(await readKeySet())
  await invoke({ action: 'revoke', kid: revoked?.kid })
  expect(await signer()).not.toBe(revoked?.kid)
  expect(await published()).toEqual([await signer()])
  expect(await readKeyState(revoked?.arn ?? '')).toBe('PendingDeletion')
  const caused = (await readEvidence()).map(({ action, trigger }) => `${trigger.kind}: ${action}`)
  // The key that `clock: disable` disabled is not the revoked one. It was retired two days ago.
  expect(caused.slice(3)).toEqual(['revoke: revoke', 'clock: disable', 'revoke: disable'])
  await invoke({ action: 'revoke', kid: revoked?.kid })
  await expectSoundKeySet()
})

it.each([
  { action: 'revoke', kid: 'unknown' },
  { action: 'revoke' },
  { action: 'rotate', emergency: 'yes' },
  { action: 'other' },
  { emergency: true },
  { action: 'rotate', emergancy: true },
  { kid: 'unknown' },
  'text',
  null,
])('the rotation rejects the invalid input %j and changes nothing', async (event) => {
  await invoke({})
  const before = await readKeySet()
  await expect(handler(event, { awsRequestId: 'r' })).rejects.toThrow()
  expect(await readKeySet()).toEqual(before)
})

it('a published key whose test signature fails never signs; runs fail until it is revoked', async () => {
  await invoke({})
  const old = await signer()
  passTime(29 * day)
  await invoke({})
  const broken = keyIn((await readKeySet()).keys, 'published')
  await kms.send(new DisableKeyCommand({ KeyId: broken?.arn }))
  passTime(day)
  for (const event of [{}, {}, { action: 'rotate', emergency: true }])
    await expect(invoke(event)).rejects.toThrow(`the signing key ${broken?.kid} failed its check`)
  expect(await signer()).toBe(old)
  await invoke({ action: 'revoke', kid: broken?.kid })
  expect(await published()).not.toContain(broken?.kid)
  const next = keyIn((await readKeySet()).keys, 'published')?.kid
  expect(next).toBeDefined()
  await expectSoundKeySet()
  passTime(day)
  await invoke({})
  expect(await signer()).toBe(next)
})

it.each([{}, { action: 'rotate' }, { action: 'rotate', emergency: true }])(
  'ten simultaneous rotation runs with the input %j create one key',
  async (event) => {
    if ('action' in event) await invoke({})
    passTime(1)
    const before = (await listOwnKeys()).length
    await Promise.all(Array.from({ length: 10 }, () => invoke(event)))
    await expectSoundKeySet()
    expect(await listOwnKeys()).toHaveLength(before + 1)
  },
)

it('a rotation succeeds without the bucket for evidence; later runs add the missing copies', async () => {
  const address = process.env['EVIDENCE_COPIES']
  process.env['EVIDENCE_COPIES'] = `http://127.0.0.1:${await findFreePort()}/`
  const metrics = await emittedMetrics(async () => {
    await invoke({})
    // The evidence gets 21 records. One run copies at most twenty of them, so two runs are needed.
    for (let i = 0; i < 10; i += 1) {
      const revoked = await signer()
      await invoke({ action: 'revoke', kid: revoked })
      expect(await published()).not.toContain(revoked)
    }
  })
  expect(metrics.filter(({ name }) => name === 'Unavailable')).toHaveLength(11)
  process.env['EVIDENCE_COPIES'] = address
  for (let run = 0; run < 2; run += 1) await invoke({})
  await expectSoundKeySet()
})

it('after a change of the address for evidence copies, the next run copies old records there', async () => {
  await invoke({})
  process.env['EVIDENCE_COPIES'] = `${process.env['AWS_ENDPOINT_URL']}/${randomUUID()}/`
  await invoke({})
  await expectSoundKeySet()
})

it('a key that KMS does not know counts as deleted only if it is older than ten minutes', async () => {
  const unknown = requireEnv('EVIDENCE_KEY_ID').replace(/[^/]+$/, randomUUID())
  expect(await disableKey(unknown, 7, Date.now())).toBeUndefined()
  expect(await disableKey(unknown, 7, Date.now() - 10 * minute)).toBe('Deleted')
})

/** Each run crashes just after one AWS call. Only calls have effects, so no other moments need a test. */
describe('a run that crashes at any AWS call', { timeout: 180_000 }, () => {
  it('after a crash of the first rotation, the next run repairs the key set', async () => {
    for (let at = 1, died = true; died; at += 1) {
      await renew()
      died = await runAndDieAt(() => invoke({}), at, true)
      passTime(minute)
      await invoke({})
      await expectSoundKeySet({ lost: 1 })
    }
  })

  it('after a crash of a rotation that also retires and disables keys, the next run repairs the key set', async () => {
    await invoke({})
    await invoke({ action: 'rotate', emergency: true })
    for (let at = 1, died = true; died; at += 1) {
      passTime(2 * day)
      died = await runAndDieAt(() => invoke({ action: 'rotate', emergency: true }), at, true)
      expect(await published()).toContain(await signer())
      passTime(minute)
      await invoke({})
      await expectSoundKeySet({ lost: 3 })
    }
  })

  it('if a revocation crashes, a key still signs; repeating the revocation removes the revoked one', async () => {
    await invoke({})
    for (let at = 1, died = true; died; at += 1) {
      const revoked = activeKey(await readKeySet())
      const revoke = () => invoke({ action: 'revoke', kid: revoked?.kid })
      died = await runAndDieAt(revoke, at, true)
      expect(await signer()).toBeDefined()
      passTime(minute)
      await revoke()
      expect(await published()).not.toContain(revoked?.kid)
      await expectSoundKeySet({ lost: 3 })
    }
  })
})

it('a rotation fails if KMS refuses to create a key, and the next run creates one', async () => {
  const { restore } = tamperCalls(async ({ name, perform }) => {
    if (name !== 'CreateKeyCommand') return perform()
    throw new LimitExceededException({ message: 'too many keys', $metadata: {} })
  })
  await expect(invoke({})).rejects.toThrow('too many keys')
  restore()
  passTime(minute)
  await invoke({})
  await expectSoundKeySet()
  expect(await listOwnKeys()).toHaveLength(1)
})

it('a slow rotation run changes nothing if a later run has already created another signing key', async () => {
  const { promise: overtaken, resolve: release } = Promise.withResolvers<undefined>()
  let held = false
  const { restore } = tamperCalls(async ({ name, perform }) => {
    if (name === 'CreateKeyCommand' && !held) {
      held = true
      await overtaken
    }
    return perform()
  })
  const slow = invoke({})
  await vi.waitUntil(() => held, { timeout: 10_000 })
  passTime(minute)
  await invoke({})
  const before = await signer()
  release(undefined)
  await slow
  restore()
  expect(await signer()).toBe(before)
  await expectSoundKeySet({ lost: 1 })
})

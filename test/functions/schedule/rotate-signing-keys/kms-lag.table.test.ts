import { KMSClient, UntagResourceCommand } from '@aws-sdk/client-kms'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useLaggingKms } from '../../../support/lagging-kms.ts'

// When the rotation waits, no real time passes: the fake clock moves forward by the length of the wait.
vi.mock('node:timers/promises', () => ({
  setTimeout: (milliseconds: number) => {
    passTime(milliseconds)
    return new Promise<void>((resolve) => setImmediate(resolve))
  },
}))

const kms = await useLaggingKms()
const { handler } = await import('../../../../functions/schedule/rotate-signing-keys.ts')
const { readKeyStatus } = await import('../../../../infra/ops/keys/key-status.ts')
const { clientOptions } = await import('../../../../shared/aws/client-options.ts')
const { signingKeyTagName } = await import('../../../../shared/aws/signing-key-names.ts')
const { signJwt } = await import('../../../../shared/keys/sign.ts')
const { activeKey, readKeySet } = await import('../../../../shared/keys/set.ts')
const { readEvidence } = await import('../../../../shared/keys/evidence.ts')
const { log } = await import('../../../../shared/log.ts')
const { emittedMetrics } = await import('../../../support/emitted-metrics.ts')
const { expectSoundKeySet } = await import('../../../support/expect-sound-key-set.ts')
const { listOwnKeys, useOwnKeys } = await import('../../../support/own-keys.ts')
const { tamperCalls } = await import('../../../support/tamper-calls.ts')

const { renew } = useOwnKeys()
const second = 1_000
const minute = 60 * second
const day = 86_400 * second

/** Longest time between two polls of KMS. A run makes its last poll 15 s before the next run begins. */
const gap = 16 * second

function passTime(milliseconds: number): void {
  vi.setSystemTime(Date.now() + milliseconds)
}

function invoke(event: object = {}) {
  const timeout = Date.now() + minute
  const getRemainingTimeInMillis = () => timeout - Date.now()
  return handler(event, { awsRequestId: randomUUID(), getRemainingTimeInMillis })
}

/** Runs the function once a minute until it no longer waits for KMS. Only the first run gets `event`. */
async function runEveryMinute(event: object = {}, maxRuns = 15): Promise<void> {
  for (let runs = 0; runs < maxRuns; runs += 1) {
    const next = Date.now() + minute
    const { waits_for_kms: waits } = await invoke(runs === 0 ? event : {})
    if (!waits) return
    vi.setSystemTime(next)
  }
  expect.unreachable('the rotation still waits for KMS')
}

/** Creates the first signing key, without delays of KMS. */
async function bootstrap() {
  const lags = kms.lags
  kms.lags = seconds(0, 0, 0)
  await runEveryMinute()
  passTime(second)
  kms.lags = lags
  return signer()
}

const signer = async () => activeKey(await readKeySet()) ?? expect.unreachable('there is no signer')

/** Counts the KMS keys of this test, after all changes in KMS have become visible. */
async function countKeys(): Promise<number> {
  passTime(20 * minute)
  return (await listOwnKeys()).length
}

/** Faked time at the start of the next test: a day after the end of the previous one. */
let clock = Date.now()

let errors = vi.spyOn(log, 'error')

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: clock })
  kms.lags = seconds(0, 0, 0)
  await renew()
  errors = vi.spyOn(log, 'error')
})
afterEach(() => {
  clock = Date.now() + day
})

const seconds = (exists: number, tags: number, state: number) => ({
  exists: exists * second,
  tags: tags * second,
  state: state * second,
})

/** For each case, how long KMS takes to show a new key, its tags and its state. */
const lags = [
  ['everything at once', seconds(0, 0, 0)],
  ['everything after 300 s', seconds(300, 300, 300)],
  ['tags after 300 s and the rest sooner', seconds(30, 300, 90)],
  ['states after 90 s and the rest sooner', seconds(0, 30, 90)],
] as const

describe.each(lags)('with a KMS that shows %s', (_what, of) => {
  const lag = Math.max(...Object.values(of))
  beforeEach(() => {
    kms.lags = { ...of }
  })
  async function expectKeys(count: number): Promise<void> {
    expect(await countKeys()).toBe(count)
    await expectSoundKeySet()
    expect(errors).not.toHaveBeenCalled()
    for (const { check } of await readEvidence())
      expect(check).toMatchObject({ signed: true, verified_by_kms: true, verified_by_jwk: true })
  }

  it('a first rotation run creates one key, which signs as soon as KMS allows it', async () => {
    const start = Date.now()
    await runEveryMinute()
    expect((await signer()).active_at).toBeLessThanOrEqual(start + lag + gap)
    await expectKeys(1)
  })

  it('a planned rotation creates one key, which is published as soon as KMS allows it', async () => {
    const old = await bootstrap()
    passTime(29 * day)
    const start = Date.now()
    await runEveryMinute()
    const [, next] = (await readKeySet()).keys
    expect(next?.published_at).toBeLessThanOrEqual(start + lag + gap)
    passTime(day)
    await runEveryMinute()
    expect(await signer()).toMatchObject({ kid: next?.kid })
    passTime(2 * day)
    const retired = Date.now()
    await runEveryMinute()
    const disabled = (await readEvidence()).at(-1)
    expect(disabled).toMatchObject({ action: 'disable', old_kid: old.kid })
    expect(disabled?.at).toBeGreaterThanOrEqual(retired + of.state)
    await expectKeys(2)
  })

  it('an emergency rotation creates one key, which signs as soon as KMS allows it', async () => {
    const old = await bootstrap()
    const start = Date.now()
    await runEveryMinute({ action: 'rotate', emergency: true, requested_by: 'an operator' })
    const next = await signer()
    expect(next.kid).not.toBe(old.kid)
    expect(next.active_at).toBeLessThanOrEqual(start + lag + gap)
    const trigger = { kind: 'emergency', requested_by: 'an operator' }
    expect((await readEvidence()).at(-1)).toMatchObject({ action: 'activate', trigger })
    await expectKeys(2)
  })

  it('a revocation creates one key, which signs as soon as KMS allows it', async () => {
    const old = await bootstrap()
    const start = Date.now()
    await runEveryMinute({ action: 'revoke', kid: old.kid })
    const [revocation, disabled] = (await readEvidence()).slice(-2)
    expect(revocation).toMatchObject({ action: 'revoke', old_kid: old.kid, trigger: { kind: 'revoke' } })
    expect(revocation?.at).toBeLessThanOrEqual(start + lag + gap)
    expect(disabled).toMatchObject({ action: 'disable', old_kid: old.kid })
    expect(disabled?.at).toBeGreaterThanOrEqual((revocation?.at ?? 0) + of.state)
    await expectKeys(2)
  })
})

it('if a rotation run crashes right after KMS has created a key, the next run creates another key', async () => {
  kms.lags = seconds(90, 90, 90)
  const start = Date.now()
  const death = Promise.withResolvers<undefined>()
  const { restore } = tamperCalls(async ({ name, perform }) => {
    const answer = await perform()
    if (name !== 'CreateKeyCommand') return answer
    death.resolve(undefined)
    return new Promise(() => undefined)
  })
  void invoke()
  await death.promise
  restore()
  vi.setSystemTime(start + minute)
  await runEveryMinute()
  expect((await signer()).active_at).toBeLessThanOrEqual(start + 90 * second + 2 * minute)
  await expectSoundKeySet({ lost: 1 })
})

describe('with a KMS that lags by 90 s', () => {
  beforeEach(() => {
    kms.lags = seconds(90, 90, 90)
  })

  it('ten simultaneous rotation runs create only one key even if KMS shows changes late', async () => {
    await Promise.all(Array.from({ length: 10 }, () => invoke()))
    await runEveryMinute()
    expect(await countKeys()).toBe(1)
    await expectSoundKeySet()
  })

  it('an emergency rotation takes effect while a planned rotation waits for its key', async () => {
    const old = await bootstrap()
    expect(await invoke({ action: 'rotate' })).toMatchObject({ waits_for_kms: true, transitions: [] })
    const status = await readKeyStatus()
    expect(status.attempt).toMatchObject({ trigger: { kind: 'rotate' }, arn: expect.any(String) as string })
    await runEveryMinute({ action: 'rotate', emergency: true })
    expect((await signer()).kid).not.toBe(old.kid)
    expect(await countKeys()).toBe(2)
  })
})

it('scheduled runs of the rotation fail if KMS still refuses a new key after ten minutes', async () => {
  kms.lags.tags = day
  const runs: string[] = []
  for (let runAt = 0; runAt < 30; runAt += 1) {
    const next = Date.now() + minute
    runs.push(
      await invoke().then(
        ({ waits_for_kms: waits }) => (waits ? 'waits' : 'done'),
        () => 'fails',
      ),
    )
    vi.setSystemTime(next)
  }
  const metrics = await emittedMetrics(() => invoke().catch(() => undefined))
  const overdue = metrics.find(({ name }) => name === 'RotationOverdueSeconds')
  expect(overdue?.value).toBeGreaterThan(25 * 60)
  expect(runs.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'waits'))
  expect(runs.slice(10)).toEqual(Array.from({ length: 20 }, () => 'fails'))
  kms.lags.tags = 0
  await runEveryMinute({ action: 'rotate' })
  passTime(day)
  expect(await countKeys()).toBe(2)
  await expectSoundKeySet({ lost: 1 })
})

// This test removes the tag of a signing key. It must run last, so that it cannot disturb the other tests.
it('if KMS denies signing, a key’s first ten minutes count as `unavailable`, later ones do not', async () => {
  const { arn } = await bootstrap()
  const credentials = { accessKeyId: 'owner', secretAccessKey: 'any' }
  const owner = new KMSClient({ ...clientOptions(), credentials })
  await owner.send(new UntagResourceCommand({ KeyId: arn, TagKeys: [signingKeyTagName] }))
  await expect(signJwt({})).rejects.toMatchObject({ failure: 'unavailable', retryAfterSeconds: 5 })
  passTime(10 * minute)
  await expect(signJwt({})).rejects.toMatchObject({ name: 'AccessDeniedException' })
})

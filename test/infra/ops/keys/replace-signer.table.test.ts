import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CommandContext } from '../../../../infra/ops/command.ts'
import type { Target } from '../../../../infra/ops/target.ts'
import { useLaggingKms } from '../../../support/lagging-kms.ts'

// The command and the rotation wait on the clock of this test: whoever waits lets its time pass.
vi.mock('node:timers/promises', () => ({
  setTimeout: (milliseconds: number) => {
    vi.setSystemTime(Date.now() + milliseconds)
    return new Promise<void>((resolve) => setImmediate(resolve))
  },
}))
// So the rotation function runs in this process, too, and is not called through Lambda.
vi.mock('../../../../infra/ops/functions.ts', async () => {
  const { handler } = await import('../../../../functions/schedule/rotate-signing-keys.ts')
  return { invokeFunction: (_name: string, event: object) => handler(event, { awsRequestId: randomUUID() }) }
})

const kms = await useLaggingKms()
const { replaceSigner } = await import('../../../../infra/ops/keys/replace-signer.ts')
const { readKeyStatus } = await import('../../../../infra/ops/keys/key-status.ts')
const { rotateKeys } = await import('../../../../shared/keys/run.ts')
const { useOwnKeys } = await import('../../../support/own-keys.ts')

const { renew } = useOwnKeys()
const minute = 60_000

const shown: string[] = []
const context: CommandContext = {
  target: { namePrefix: '' } as Target,
  terminal: {
    out: () => undefined,
    err: (text) => void shown.push(text),
    readInput: async function* () {},
  },
  show: () => undefined,
}

const stateOf = async (kid: string | null) =>
  (await readKeyStatus()).keys.find((key) => key.kid === kid)?.state

/** Makes the first key while nothing lags; resolves with its kid. */
async function bootstrap(): Promise<string | null> {
  kms.lags = { exists: 0, tags: 0, state: 0 }
  const { signer } = await rotateKeys({ action: 'clock' }, { runId: randomUUID() })
  vi.setSystemTime(Date.now() + 1_000)
  return signer
}

/** The clock never goes back, or keys of earlier tests would be keys of the future. */
let clock = Date.now()

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: clock })
  shown.length = 0
  await renew()
})
afterEach(() => {
  clock = Date.now() + minute
  vi.useRealTimers()
})

describe('keys rotate --emergency --revoke-old', () => {
  it.each([
    ['at once', 0],
    ['two minutes late', 2 * minute],
  ])('the old key is revoked a minute after a new one signs, which KMS allows %s', async (_when, lag) => {
    const old = await bootstrap()
    kms.lags = { exists: lag, tags: 0, state: 0 }
    await replaceSigner(context, 'an operator')
    const { evidence } = await readKeyStatus()
    const at = (wanted: string) => evidence.find(({ action }) => action === wanted)?.at ?? Number.NaN
    expect(await stateOf(old)).toBe('retired')
    expect(at('revoke') - at('activate')).toBeGreaterThanOrEqual(minute)
    expect(evidence.find(({ action }) => action === 'revoke')?.trigger.requested_by).toBe('an operator')
    expect(shown.includes('KMS does not let the new key sign yet.')).toBe(lag > 0)
  })

  it('no key is revoked if KMS lets no new key sign', async () => {
    const old = await bootstrap()
    kms.lags = { exists: 60 * minute, tags: 0, state: 0 }
    await expect(replaceSigner(context, undefined)).rejects.toThrow(/no new key signs yet|KMS refuses/)
    expect(await stateOf(old)).toBe('active')
  })
})

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { describeRotation } from '../../../../infra/ops/keys/run-rotation.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

const answer = {
  signer: 'new',
  transitions: [{ sequence: 7, action: 'activate', old_kid: 'old', new_kid: 'new' }],
  retiring: [
    { kid: 'older', may_sign_milliseconds: 0 },
    { kid: 'old', may_sign_milliseconds: 63_000 },
  ],
  next_due: Date.parse('2026-02-01T00:00:00Z'),
  waits_for_kms: false,
}

it('the report of a rotation says with which old key functions may still sign, and until when', () => {
  expect(describeRotation(answer).split('\n')).toEqual([
    '7  activate  old -> new',
    'Signing key: new. Next step due: 2026-02-01 00:00:00Z.',
    'Functions that keep the key set in memory may still sign with old, until 2026-01-01 00:01:03Z.',
  ])
})

it('the report of a rotation that did nothing says so', () => {
  const idle = { ...answer, transitions: [], retiring: [] }
  expect(describeRotation(idle)).toMatch(/^There was nothing to do\.\nSigning key: new\./)
})

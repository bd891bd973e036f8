import { describe, expect, it } from 'vitest'
import { describeDue, listKeys, listSteps, reportKeys } from '../../../../infra/ops/reports/keys.ts'
import type { Evidence } from '../../../../shared/keys/evidence.ts'
import { linesOf } from './lines-of.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 22)
const instants = { published_at: now - 2 * day, active_at: now - day, retiring_at: null, retired_at: null }
const key = { kid: 'one', arn: 'arn:one', state: 'active' as const, ...instants }
const status = { keys: [key], evidence: [], attempt: null, next_due: now + day }

const step = (sequence: number): Evidence => ({
  sequence,
  at: now,
  action: 'activate',
  trigger: { kind: 'rotate', request_id: 'r', requested_by: 'Ada' },
  run_id: 'r',
  old_kid: null,
  old_arn: null,
  new_kid: 'abcdefghijkl',
  new_arn: null,
  jwks_sha256_before: '',
  jwks_sha256_after: '',
  check: null,
  kms_state: null,
  next_due: now,
  previous_hash: null,
  hash: '',
  signature: '',
})

describe('`keys status`', () => {
  it('`keys status` says that a key signs and when the next step is due, before the keys', () => {
    const report = reportKeys(status, now)
    expect(report.ok).toBe(true)
    expect(linesOf(report)).toEqual([
      'A key signs; the next step is due 2026-11-23 00:00:00Z, in 1 d',
      '',
      'Keys',
      '  KID  STATE   SINCE',
      '  one  active  2026-11-21 00:00:00Z',
      '    arn:one',
    ])
  })

  it.each([
    ['no key is active', { keys: [] }, /^No key signs; the next step is due/],
    ['a step is late', { next_due: now - day }, /^A key signs; the next step was due .+, 1 d ago$/],
    ['no key was ever created', { keys: [], next_due: null }, /^No key signs: none was ever created$/],
  ])('`keys status` marks its verdict as something wrong if %s', (_, change, verdict) => {
    const report = reportKeys({ ...status, ...change }, now)
    expect(report).toMatchObject({ ok: false, verdict: expect.stringMatching(verdict) as string })
  })

  it('`keys status` tells of a key whose creation has not ended', () => {
    const attempt = { started_at: now, trigger: step(1).trigger, arn: 'arn:two' }
    expect(linesOf(reportKeys({ ...status, attempt }, now))).toContain(
      '  since 2026-11-22 00:00:00Z  arn:two',
    )
  })

  it('the newest key and the newest step come first', () => {
    const rows = listKeys([key, { ...key, kid: 'two', state: 'published' }]).rows
    expect(rows.map(({ cells }) => cells[0])).toEqual(['two', 'one'])
    expect(rows[0]?.cells).toContain('2026-11-20 00:00:00Z')
    expect(listSteps([step(1), step(2)]).rows.map(({ cells }) => cells[0])).toEqual(['2', '1'])
  })

  it('a step names its action, its keys by their first characters, and who asked for it', () => {
    expect(listSteps([step(1)]).rows[0]?.cells).toEqual([
      '1',
      '2026-11-22 00:00:00Z',
      'activate',
      '-',
      'abcdefgh…',
      'Ada',
    ])
  })

  const twelve = listSteps(Array.from({ length: 12 }, (_, i) => step(i + 1)))

  it('of many steps, the last ten are listed', () => {
    expect(twelve.rows.map(({ cells }) => cells[0])).toEqual('12 11 10 9 8 7 6 5 4 3'.split(' '))
  })

  it('of many steps, the title says how many there are', () => {
    expect(twelve.title).toBe('Last 10 of 12 steps of the rotation (--json prints all)')
  })

  it('an instant that has passed is told as one that was due', () => {
    expect(describeDue(now - 1_000, now)).toBe('was due 2026-11-21 23:59:59Z, 1 s ago')
  })
})

import { expect, it } from 'vitest'
import { reportChecks } from '../../../../infra/ops/reports/doctor.ts'
import { linesOf } from './lines-of.ts'

const check = (name: string, ok: boolean) => ({ check: name, ok, words: `what ${name} found` })

it('doctor says that all checks passed, before what each of them found', () => {
  const report = reportChecks([check('API', true), check('mail', true)])
  expect(report.ok).toBe(true)
  expect(linesOf(report)).toEqual([
    'All 2 checks passed',
    '',
    'Passed',
    '  API   what API found',
    '  mail  what mail found',
  ])
})

it('doctor lists the failed checks before those that passed', () => {
  const report = reportChecks([check('API', true), check('mail', false), check('page', true)])
  expect(report.ok).toBe(false)
  expect(linesOf(report)).toEqual([
    '1 of 3 checks failed',
    '',
    'Failed',
    '  mail  what mail found',
    '',
    'Passed',
    '  API   what API found',
    '  page  what page found',
  ])
})

import type { examine } from '../doctor.ts'
import { countNoun, type Report } from '../report.ts'

type Checks = Awaited<ReturnType<typeof examine>>

/** Reports the checks of `doctor`, the failed ones first. */
export function reportChecks(checks: Checks): Report {
  const rowsOf = (wanted: boolean) =>
    checks.filter(({ ok }) => ok === wanted).map(({ check, words }) => ({ cells: [check, words] }))
  const [failed, passed] = [rowsOf(false), rowsOf(true)]
  const ok = failed.length === 0
  return {
    ok,
    verdict: ok
      ? `All ${countNoun(passed.length, 'check')} passed`
      : `${failed.length} of ${countNoun(checks.length, 'check')} failed`,
    sections: [
      { title: 'Failed', rows: failed, tone: 'wrong' },
      { title: 'Passed', rows: passed, tone: 'well' },
    ],
  }
}

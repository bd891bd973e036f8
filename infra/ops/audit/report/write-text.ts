import { formatInstant, formatTable } from '../../terminal.ts'
import type { Report } from '../audit.ts'
import { nextStep } from './write-html.ts'

/** The report for a terminal. */
export function writeText(report: Report): string {
  const keys = formatTable(
    ['KEY', 'STATE', 'IN KMS', 'PUBLISHED', 'ACTIVE', 'RETIRED', 'DAYS'],
    report.keys.map((key) => [
      key.kid,
      key.signs ? `${key.state} (signs)` : key.state,
      key.kms_state,
      formatInstant(key.published_at),
      formatInstant(key.active_at),
      formatInstant(key.retired_at),
      String(key.age_days),
    ]),
  )
  const controls = report.controls.map(({ title, holds }) => `${holds ? 'holds ' : 'BROKEN'}  ${title}`)
  const findings = report.findings.map(
    ({ finding, subject, message, controls: broken }) =>
      `${finding}  ${subject}\n    ${message}\n    ${broken.join(', ')}`,
  )
  const { head, count } = report.evidence
  return [
    keys,
    nextStep(report),
    `Evidence: ${count} records${head === null ? '' : `, the last is ${head.sequence} with hash ${head.hash}`}.`,
    controls.join('\n'),
    report.ok ? 'Nothing was found.' : `${findings.length} found:\n\n${findings.join('\n')}`,
  ].join('\n\n')
}

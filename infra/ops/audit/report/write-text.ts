import { formatDuration, formatInstant, formatTable } from '../../terminal.ts'
import type { Report } from '../audit.ts'

/** Writes the audit report as text for a terminal. */
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
  const controls = report.controls.map(({ title, holds }) => `${holds ? 'met     ' : 'VIOLATED'}  ${title}`)
  const findings = report.findings.map(
    ({ finding, subject, message, controls: violated }) =>
      `${finding}  ${subject}\n    ${message}\n    ${violated.join(', ')}`,
  )
  const { head, count } = report.evidence
  return [
    keys,
    describeNextStep(report),
    `Evidence: ${count} records${head === null ? '' : `, the last is ${head.sequence} with hash ${head.hash}`}.`,
    controls.join('\n'),
    report.ok ? 'No findings.' : `${findings.length} findings:\n\n${findings.join('\n')}`,
  ].join('\n\n')
}

/** Says in a sentence when the rotation has its next step to do. */
export function describeNextStep({ at, next_due: due }: Pick<Report, 'at' | 'next_due'>): string {
  if (due === null) return 'There is no key set.'
  return due > at
    ? `The next step is due at ${formatInstant(due)}, in ${formatDuration(due - at)}.`
    : `The next step has been due since ${formatInstant(due)}.`
}

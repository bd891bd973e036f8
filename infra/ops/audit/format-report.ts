import { formatDuration, formatInstant, formatTable } from '../terminal.ts'
import type { Report } from './audit.ts'

/** Formats the audit report as text: tables of the findings, the keys, the controls and the evidence. */
export function formatReport(report: Report): string {
  const { findings, keys, controls, records } = report
  const sections: [title: string, head: string[], rows: string[][]][] = [
    [
      'Findings',
      ['Finding', 'Subject', 'What is wrong'],
      findings.map(({ finding, subject, message }) => [finding, subject, message]),
    ],
    [
      'Keys on record',
      ['Key', 'State', 'In KMS', 'Published', 'Active', 'Retiring', 'Retired'],
      keys.map((key) => [
        key.kid,
        key.state,
        describeInKms(key.kms),
        ...[key.published_at, key.active_at, key.retiring_at, key.retired_at].map(formatInstant),
      ]),
    ],
    [
      'Controls',
      ['Result', 'Control'],
      controls.map(({ title, holds }) => [holds ? 'met' : 'VIOLATED', title]),
    ],
    [
      'Evidence (a disable explains DisableKey and ScheduleKeyDeletion of its old key in CloudTrail)',
      ['Record', 'Instant', 'Action', 'Requested by', 'Old key', 'Run'],
      records.map((record) => [
        String(record.sequence),
        formatInstant(record.at),
        record.action,
        record.trigger.requested_by ?? record.trigger.kind,
        record.old_kid ?? '-',
        record.run_id,
      ]),
    ],
  ]
  const shown = sections.filter(([, , rows]) => rows.length > 0)
  return [
    ...shown.map(([title, head, rows]) => `${title}\n${formatTable(head, rows)}`),
    `${findings.length === 0 ? 'No findings.' : `Findings: ${findings.length}.`} ${describeNextStep(report)}`,
  ].join('\n\n')
}

const describeInKms = (key: Report['keys'][number]['kms']): string =>
  key?.deletionAt === undefined
    ? (key?.state ?? 'Unknown')
    : `${key.state} until ${formatInstant(key.deletionAt)}`

/** Says in a sentence when the rotation has its next step to do. */
function describeNextStep({ at, next_due: due }: Report): string {
  if (due === null) return 'There is no key set.'
  return due > at
    ? `The next step is due at ${formatInstant(due)}, in ${formatDuration(due - at)}.`
    : `The next step has been due since ${formatInstant(due)}.`
}

import { formatDuration, formatInstant } from '../../terminal.ts'
import type { Report } from '../audit.ts'

/** A part of the report: a table under a title. */
export interface Section {
  title: string
  /** What the reader must know about it. */
  text?: string
  head: string[]
  rows: string[][]
  /** How many columns a terminal shows; 0 leaves the section to the HTML file. */
  columnsInTerminal: number
}

/** Describes the report in a sentence and in sections, from which the text and the HTML file are written. */
export const describeReport = (report: Report): { summary: string; sections: Section[] } => ({
  summary: `${describeFindings(report)} ${describeNextStep(report)}`,
  sections: [
    {
      title: 'Findings',
      head: ['Finding', 'Subject', 'What is wrong', 'Controls'],
      rows: report.findings.map(({ finding, subject, message, controls }) => [
        finding,
        subject,
        message,
        controls.join(', '),
      ]),
      columnsInTerminal: 3,
    },
    {
      title: 'Keys on record',
      head: [
        ...['Key', 'State', 'In KMS', 'Published', 'Active', 'Retiring', 'Retired'],
        ...['Age in days', 'Spec', 'ARN'],
      ],
      rows: report.keys.map((key) => [
        key.kid,
        key.signs ? `${key.state} (signs)` : key.state,
        key.deletion_at === null ? key.kms_state : `${key.kms_state} until ${formatInstant(key.deletion_at)}`,
        formatInstant(key.published_at),
        formatInstant(key.active_at),
        formatInstant(key.retiring_at),
        formatInstant(key.retired_at),
        String(key.age_days),
        key.spec ?? '-',
        key.arn,
      ]),
      columnsInTerminal: 7,
    },
    {
      title: 'Controls',
      head: ['Result', 'Control', 'Requirement'],
      rows: report.controls.map(({ title, asks, holds }) => [holds ? 'met' : 'VIOLATED', title, asks]),
      columnsInTerminal: 2,
    },
    {
      title: 'Calls that CloudTrail must show',
      text: 'The role of the rotation made these calls, each within a minute before the instant. They explain the alarm on disabled keys. Any other DisableKey or ScheduleKeyDeletion of a signing key was made by somebody else, and this audit names the key.',
      head: ['Call', 'Key', 'Instant', 'Run', 'Requested by'],
      rows: report.expected_calls.map(({ call, arn, at, run_id: run, trigger }) => [
        call,
        arn ?? '-',
        formatInstant(at),
        run,
        trigger,
      ]),
      columnsInTerminal: 0,
    },
    {
      title: 'Evidence',
      text: `${report.evidence.count} records, each with the hash of the one before; the last hash is ${report.evidence.head?.hash ?? 'none'}.`,
      head: ['Record', 'Instant', 'Action', 'Requested by', 'Old key', 'New key', 'Hash'],
      rows: report.records.map((record) => [
        String(record.sequence),
        formatInstant(record.at),
        record.action,
        record.trigger.requested_by ?? record.trigger.kind,
        record.old_kid ?? '-',
        record.new_kid ?? '-',
        record.hash,
      ]),
      columnsInTerminal: 4,
    },
  ],
})

const describeFindings = ({ findings }: Report): string =>
  findings.length === 0 ? 'No findings.' : `Findings: ${findings.length}.`

/** Says in a sentence when the rotation has its next step to do. */
function describeNextStep({ at, next_due: due }: Report): string {
  if (due === null) return 'There is no key set.'
  return due > at
    ? `The next step is due at ${formatInstant(due)}, in ${formatDuration(due - at)}.`
    : `The next step has been due since ${formatInstant(due)}.`
}

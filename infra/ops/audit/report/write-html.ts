import { formatInstant } from '../../terminal.ts'
import type { Report } from '../audit.ts'
import { escapeHtml, htmlTable } from './html.ts'
import { drawTimeline } from './timeline.ts'
import { describeNextStep } from './write-text.ts'

const style = `
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.verdict { display: inline-block; padding: .3rem .8rem; border: 2px solid; border-radius: .4rem; font-weight: 600; }
.good { color: #14532d; } .bad { color: #8c1d18; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; margin: .5rem 0 1rem; }
caption { text-align: left; color: #57606a; padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid #d0d7de; }
td { font-variant-numeric: tabular-nums; } td.id { font: .92em/1.45 ui-monospace, monospace; overflow-wrap: anywhere; min-width: 14ch; }
svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: #40464d; } svg .kid { font-family: ui-monospace, monospace; } svg .now { fill: #b3261e; }
@media screen and (max-width: 60rem) { table { display: block; overflow-x: auto; } }
@page { size: A4 landscape; margin: 14mm; }
@media print { html { font-size: 12.5px; } body { margin: 0; max-width: none; font-size: 11px; padding: 0; } th, td { padding: .2rem .4rem; } h2 { break-after: avoid; } tr, svg { break-inside: avoid; } * { print-color-adjust: exact; } }
`

/** Writes the audit report as one self-contained HTML file, for screen and print. */
export function writeHtml(report: Report, stage: string): string {
  const { at, ok, findings } = report
  const verdict = ok ? 'No findings' : findings.length === 1 ? '1 finding' : `${findings.length} findings`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Audit of the signing keys, ${escapeHtml(stage)}, ${formatInstant(at)}</title><style>${style}</style></head>
<body>
<h1>Audit of the signing keys</h1>
<p>Deployment <strong>${escapeHtml(stage)}</strong>, ${formatInstant(at)}. ${escapeHtml(describeNextStep(report))}</p>
<p class="verdict ${ok ? 'good' : 'bad'}">${verdict}</p>
${ok ? '' : findingsTable(report)}
<h2>States of the keys</h2>
${report.keys.length === 0 ? '<p>There are none.</p>' : drawTimeline(report.keys, at)}
${keysTable(report)}
<h2>Controls</h2>
${controlsTable(report)}
<h2>Calls that CloudTrail must show</h2>
<p>The role of the rotation made these calls, each within a minute before the instant. They explain the alarm on disabled keys. Any other DisableKey or ScheduleKeyDeletion of a signing key was made by somebody else, and this audit names the key.</p>
${callsTable(report)}
<h2>Evidence</h2>
${evidenceTable(report)}
</body></html>
`
}

const findingsTable = ({ findings }: Report): string =>
  htmlTable(
    'Findings',
    ['Finding', 'Subject', 'What is wrong', 'Controls'],
    findings.map(({ finding, subject, message, controls }) => [
      finding,
      subject,
      message,
      controls.join(', '),
    ]),
  )

const keysTable = ({ keys }: Report): string =>
  htmlTable(
    'Every key on record',
    ['Key', 'State', 'In KMS', 'Spec', 'Published', 'Active', 'Retiring', 'Retired', 'Age in days', 'ARN'],
    keys.map((key) => [
      key.kid,
      key.signs ? `${key.state} (signs)` : key.state,
      key.deletion_at === null ? key.kms_state : `${key.kms_state} until ${formatInstant(key.deletion_at)}`,
      key.spec ?? '-',
      formatInstant(key.published_at),
      formatInstant(key.active_at),
      formatInstant(key.retiring_at),
      formatInstant(key.retired_at),
      String(key.age_days),
      key.arn,
    ]),
  )

const controlsTable = ({ controls }: Report): string =>
  htmlTable(
    'The controls that were checked',
    ['Control', 'Requirement', 'Result'],
    controls.map(({ title, asks, holds }) => [title, asks, holds ? 'met' : 'violated']),
  )

const callsTable = (report: Report): string =>
  htmlTable(
    'Calls that the evidence explains',
    ['Call', 'Key', 'Instant', 'Run', 'Requested by'],
    report.expected_calls.map((call) => [
      call.call,
      call.arn ?? '-',
      formatInstant(call.at),
      call.run_id,
      call.trigger,
    ]),
  )

const evidenceTable = ({ evidence, records }: Report): string =>
  htmlTable(
    `${evidence.count} records, each with the hash of the one before; the last hash is ${evidence.head?.hash ?? 'none'}`,
    ['Record', 'Instant', 'Action', 'Requested by', 'Old key', 'New key', 'Hash'],
    records.map((record) => [
      String(record.sequence),
      formatInstant(record.at),
      record.action,
      record.trigger.requested_by ?? record.trigger.kind,
      record.old_kid ?? '-',
      record.new_kid ?? '-',
      record.hash,
    ]),
  )

import { formatInstant } from '../../terminal.ts'
import type { Report } from '../audit.ts'
import { describeReport, type Section } from './describe-report.ts'

const style = `
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid #d0d7de; }
td { overflow-wrap: anywhere; }
@page { size: A4 landscape; margin: 14mm; }
@media print { body { font-size: 11px; margin: 0; max-width: none; } tr { break-inside: avoid; } }
`

/** Writes the audit report as one self-contained HTML file, for screen and print. */
export function writeHtml(report: Report, stage: string): string {
  const { summary, sections } = describeReport(report)
  const title = `Audit of the signing keys, ${escapeHtml(stage)}, ${formatInstant(report.at)}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style></head>
<body>
<h1>${title}</h1>
<p><strong>${escapeHtml(summary)}</strong></p>
${sections.map(writeSection).join('\n')}
</body></html>
`
}

const writeSection = ({ title, text = '', head, rows }: Section): string => `<h2>${escapeHtml(title)}</h2>
<p>${escapeHtml(text)}</p>
${rows.length === 0 ? '<p>None.</p>' : writeTable(head, rows)}`

function writeTable(head: string[], rows: string[][]): string {
  const headings = head.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`)
  return `<table><thead><tr>${headings}</tr></thead><tbody>${body.join('\n')}</tbody></table>`
}

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

import { formatTable } from '../../terminal.ts'
import type { Report } from '../audit.ts'
import { describeReport, type Section } from './describe-report.ts'

/** Writes the audit report as text for a terminal. */
export function writeText(report: Report): string {
  const { summary, sections } = describeReport(report)
  const shown = sections.filter(({ rows, columnsInTerminal }) => rows.length > 0 && columnsInTerminal > 0)
  return [...shown.map(writeSection), summary].join('\n\n')
}

const writeSection = ({ title, text, head, rows, columnsInTerminal: columns }: Section): string =>
  [
    title,
    ...(text === undefined ? [] : [text]),
    formatTable(
      head.slice(0, columns),
      rows.map((row) => row.slice(0, columns)),
    ),
  ].join('\n')

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatCell, type Table } from './table.ts'

const root = join(import.meta.dirname, '../../..')

/** The documents that show tables of the benchmark. */
const documents = ['infra/CAPACITY.md', 'test/bench/README.md']

/** Writes the tables of a run into the documents. */
export function writeDocuments(tables: readonly Table[], machine: string): void {
  for (const name of documents) {
    const file = join(root, name)
    writeFileSync(file, fillTables(readFileSync(file, 'utf8'), tables, machine))
  }
}

/**
 * Fills in the tables between `<!-- bench TABLE: COLUMN, COLUMN -->` and `<!-- end -->`; without columns,
 * all of them. A table that the run did not measure stays as it is.
 */
export const fillTables = (document: string, tables: readonly Table[], machine: string): string =>
  document.replaceAll(
    /(<!-- bench ([\w-]+)(?:: ([^>]+))? -->\n).*?(<!-- end -->)/gs,
    (all, start: string, name: string, columns: string | undefined, end: string) => {
      const table = tables.find((one) => one.name === name)
      if (table === undefined) return all
      return `${start}\n${toMarkdown(table, columns?.split(', '))}\n\nMeasured ${machine}.\n\n${end}`
    },
  )

/** Formats a table in Markdown as Prettier does, because a test holds that CAPACITY.md is formatted. */
function toMarkdown({ rows }: Table, columns = [...new Set(rows.flatMap(Object.keys))]): string {
  const isNumeric = columns.map((column) => rows.some((row) => typeof row[column] === 'number'))
  const cells = [columns, ...rows.map((row) => columns.map((column) => formatCell(row[column])))]
  const widths = columns.map((_column, i) => Math.max(3, ...cells.map((row) => row[i]?.length ?? 0)))
  const [head, ...body] = cells.map((row) =>
    row.map((text, i) => (isNumeric[i] ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0))),
  )
  const rule = widths.map((width, i) => (isNumeric[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  return [head, rule, ...body].map((row) => `| ${row?.join(' | ') ?? ''} |`).join('\n')
}

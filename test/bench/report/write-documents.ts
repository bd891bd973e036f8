import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { formatCell, type Table } from './table.ts'

const root = join(import.meta.dirname, '../../..')

/** The documents that show tables of the benchmark. */
const documents = ['README.md', 'infra/CAPACITY.md']

/** Writes the tables of a run into the documents. */
export async function writeDocuments(tables: readonly Table[], machine: string): Promise<void> {
  for (const name of documents) {
    const file = join(root, name)
    const filled = fillTables(readFileSync(file, 'utf8'), tables, machine)
    writeFileSync(file, await format(filled, { ...(await resolveConfig(file)), filepath: file }))
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

function toMarkdown({ rows }: Table, columns = [...new Set(rows.flatMap(Object.keys))]): string {
  const rules = columns.map((column) =>
    rows.some((row) => typeof row[column] === 'number') ? '---:' : '---',
  )
  const body = rows.map((row) => columns.map((column) => formatCell(row[column])))
  return [columns, rules, ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

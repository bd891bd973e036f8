import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'

/** A cell of a table; undefined is printed as a dash. */
export type Cell = string | number | undefined
export type Row = Record<string, Cell>

/** Figures of the benchmark. The first column names the row. */
export interface Table {
  name: string
  title: string
  /** How the figures were measured, and what they leave out. */
  notes: string[]
  rows: Row[]
}

/** The options of a run of the benchmark. */
export interface Options {
  /** Whether to measure less data. A run then takes less than a minute. */
  short: boolean
  /** How often each kind of cold start is measured. */
  samples: number
}

/** Formats rows as a Markdown table with aligned columns, as Prettier would. */
export function toMarkdown(rows: readonly Row[], columns = [...new Set(rows.flatMap(Object.keys))]): string {
  const isNumeric = columns.map((column) => rows.some((row) => typeof row[column] === 'number'))
  const cells = [columns, ...rows.map((row) => columns.map((column) => formatCell(row[column])))]
  const widths = columns.map((_column, i) => Math.max(3, ...cells.map((row) => row[i]?.length ?? 0)))
  const [head, ...body] = cells.map((row) =>
    row.map((text, i) => (isNumeric[i] ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0))),
  )
  const rule = widths.map((width, i) => (isNumeric[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  return [head, rule, ...body].map((row) => `| ${row?.join(' | ') ?? ''} |`).join('\n')
}

/** Formats a number with at most four significant digits, or as a whole number if it is 1,000 or more. */
function formatCell(value: Cell): string {
  if (value === undefined) return '–'
  if (typeof value === 'string') return value
  const digits = Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 }
  return value.toLocaleString('en-US', digits)
}

/** Rounds a figure to its significant digits, so that the JSON output claims no false precision. */
export const round = (value: number, digits = 4): number => Number(value.toPrecision(digits))

/** Files to fill in. A table goes between `<!-- bench TABLE: COLUMN, COLUMN -->` and `<!-- end -->`. */
const documents = ['infra/CAPACITY.md']

/** Writes the tables of measurements into the documents. A table has all columns if its marker names none. */
export function writeDocuments(tables: readonly Table[]): void {
  const day = new Date().toISOString().slice(0, 10)
  for (const name of documents) {
    const file = join(import.meta.dirname, '../..', name)
    const filled = readFileSync(file, 'utf8').replaceAll(
      /(<!-- bench ([\w-]+)(?:: ([^>]+))? -->\n).*?(<!-- end -->)/gs,
      (all, start: string, table: string, columns: string | undefined, end: string) => {
        const found = tables.find((one) => one.name === table)
        if (found === undefined) return all
        return `${start}\n${toMarkdown(found.rows, columns?.split(', '))}\n\nMeasured ${day}.\n\n${end}`
      },
    )
    writeFileSync(file, filled)
  }
}

/** Describes when, where and how the benchmark runs, and how busy the machine is with other work. */
export function describeMachine(samples: number): string {
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const machine = `${cpus()[0]?.model.trim() ?? ''}, ${cpus().length} cores, ${gigabytes} GB`
  const load = (loadavg()[0] ?? 0).toFixed(1)
  return `${date} UTC, ${machine}, Node.js ${process.version}, medians of ${samples}, load average ${load}`
}

/** The median of several measurements. Throws if there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [upper, lower] = [sorted[middle], sorted[Math.ceil(sorted.length / 2) - 1]]
  if (upper === undefined || lower === undefined) throw new Error('nothing was measured')
  return (upper + lower) / 2
}

/**
 * Measures all candidates in turn, `samples` times, so that changes in the machine's speed affect all alike.
 * Resolves with each candidate's measurements, in the order of `candidates`.
 */
export async function interleave<Candidate, Measurement>(
  candidates: readonly Candidate[],
  samples: number,
  measure: (candidate: Candidate) => Promise<Measurement>,
): Promise<Measurement[][]> {
  const measured: Measurement[][] = candidates.map(() => [])
  for (let sample = 0; sample < samples; sample += 1)
    for (const [i, candidate] of candidates.entries()) measured[i]?.push(await measure(candidate))
  return measured
}

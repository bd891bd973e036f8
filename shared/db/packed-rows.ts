import { deflateRawSync, inflateRawSync } from 'node:zlib'

type Value = number | string

/**
 * Packs rows as compressed JSON. Stores the values column by column, because similar values side by side
 * compress best. Stores each number as its difference from the row before, which is small in sorted rows.
 */
export function packRows(rows: readonly (readonly Value[])[]): Uint8Array {
  const columns = (rows[0] ?? []).map((_, column) =>
    rows.map((row, i) => minus(row[column] ?? 0, rows[i - 1]?.[column] ?? 0)),
  )
  return deflateRawSync(JSON.stringify(columns))
}

const minus = (value: Value, before: Value): Value =>
  typeof value === 'number' ? value - Number(before) : value

/** Unpacks rows that packRows has packed. */
export function unpackRows<Row extends Value[]>(packed: Uint8Array): Row[] {
  const columns = JSON.parse(inflateRawSync(packed).toString()) as Value[][]
  const before = columns.map(() => 0)
  return (columns[0] ?? []).map((_, i) => {
    const row = columns.map((column, c) => {
      const value = column[i] ?? 0
      return typeof value === 'number' ? (before[c] = (before[c] ?? 0) + value) : value
    })
    return row as Row
  })
}

import type { UseQueryResult } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { showCount } from './format.ts'
import { Button, Loaded } from './parts.tsx'

/** Rows of a page. The service gives at most 20. */
export const pageSize = 10

/** The filters of a list. They are kept in the address, so that Back undoes them. */
export function useFilters() {
  const { path, query, route } = useLocation()
  const set = (changes: Record<string, string>) => {
    // Every change but that of the page begins at the first page.
    const filters = Object.entries({ ...query, current: '', ...changes }).filter(([, value]) => value !== '')
    route(`${path}?${new URLSearchParams(filters).toString()}`)
  }
  return { query, current: Math.max(1, Math.floor(Number(query['current'])) || 1), set }
}

interface FilterProps {
  label: string
  name: string
  /** Without choices, the field is an input of this type. */
  type?: string
  choices?: readonly string[]
  /** Words for a choice; `''` stands for no choice. */
  show?: (choice: string) => string
}

/** A filter of a list: a choice or an input. */
export function Filter({ label, name, type = 'text', choices, show = String }: FilterProps) {
  const { query, set } = useFilters()
  const value = query[name] ?? choices?.[0] ?? ''
  const onChange = ({ currentTarget }: Event) =>
    set({ [name]: (currentTarget as HTMLInputElement | HTMLSelectElement).value })
  return (
    <label class="field">
      <span>{label}</span>
      {!choices && <input type={type} value={value} onChange={onChange} />}
      {choices && (
        <select value={value} onChange={onChange}>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice === '' ? 'All' : show(choice)}
            </option>
          ))}
        </select>
      )}
    </label>
  )
}

/** A choice between few values. `''` is the default. */
export function Tabs({ label, name, choices = [], show = String }: FilterProps) {
  const { query, set } = useFilters()
  return (
    <div class="tabs" role="group" aria-label={label}>
      {choices.map((choice) => (
        <Button
          aria-pressed={choice === (query[name] ?? '')}
          onClick={() => set({ [name]: choice })}
          key={choice}
        >
          {show(choice)}
        </Button>
      ))}
    </div>
  )
}

/** A column of a table. A `number` is aligned to the end; `main` heads its row on a narrow screen. */
type Column<Row> = readonly [title: string, cell: (row: Row) => ComponentChildren, kind?: 'number' | 'main']

/** The columns of a table, by which the rows' type is known. */
export type Columns<Row> = readonly Column<Row>[]

interface TableProps<Row> {
  name: string
  rows: Row[]
  columns: Columns<Row>
  /** What is there to say about a table without rows. */
  empty: string
}

/** A table that becomes a list of its rows on a narrow screen. */
export const Table = <Row extends object>({ name, rows, columns, empty }: TableProps<Row>) =>
  rows.length === 0 ? (
    <p class="empty">{empty}</p>
  ) : (
    <div class="scroll" role="region" aria-label={name} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(([title, , kind]) => (
              <th key={title} scope="col" class={kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            // The first two fields of every record tell it from others.
            <tr key={Object.values(row).slice(0, 2).join(' ')}>
              {columns.map(([title, cell, kind]) => (
                <td key={title} class={kind} data-title={title}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )

type Page<Row> = { records: Row[]; total: number; pages: number; current: number }
type PagesProps<Row> = Omit<TableProps<Row>, 'rows'> & { query: UseQueryResult<Page<Row>> }

/** One page of a list, the number of all, and the way to the other pages. */
export function Pages<Row extends object>({ query, name, ...table }: PagesProps<Row>) {
  const { set } = useFilters()
  return (
    <Loaded query={query} lines={20}>
      {({ records, total, pages, current }) => {
        const to = (text: string, page: number) => (
          <Button disabled={page < 1 || page > pages} onClick={() => set({ current: String(page) })}>
            {text}
          </Button>
        )
        return (
          <>
            <Table name={name} rows={records} {...table} />
            <nav class="pager" aria-label={`Pages of ${name}`}>
              <p role="status">
                {`Page ${showCount(current)} of ${showCount(Math.max(pages, 1))} · ${showCount(total)} ${name}`}
              </p>
              {to('First', current > 1 ? 1 : 0)}
              {to('Previous', current - 1)}
              {to('Next', current + 1)}
              {to('Last', current < pages ? pages : 0)}
            </nav>
          </>
        )
      }}
    </Loaded>
  )
}

import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { type Answer, dataOf } from './api.ts'
import { showCount } from './format.ts'
import { Button, Card, Loaded, SaveButton } from './parts.tsx'

/** What is chosen on a page. It is kept in the address, so that Back undoes it. */
export function useChoices() {
  const { path, query, route } = useLocation()
  const choose = (changes: Record<string, string>) => {
    const choices = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '')
    route(`${path}?${new URLSearchParams(choices).toString()}`)
  }
  return { chosen: query, choose }
}

interface ChoiceProps {
  label: string
  name: string
  /** Without values to choose from, the field is an input of this type. */
  type?: string
  values?: readonly string[]
  /** Words for a value; `''` stands for all. */
  show?: (value: string) => string
  /** The list that the choice filters: it begins again at its first page. */
  list?: string
}

/** A field whose value is kept in the address. */
export function Choice({ label, name, type = 'text', values, show = String, list = '' }: ChoiceProps) {
  const { chosen, choose } = useChoices()
  const value = chosen[name] ?? values?.[0] ?? ''
  const onChange = ({ currentTarget }: Event) =>
    choose({ [list]: '', [name]: (currentTarget as HTMLInputElement | HTMLSelectElement).value })
  return (
    <label class="field">
      <span>{label}</span>
      {!values && <input type={type} value={value} onChange={onChange} />}
      {values && (
        <select value={value} onChange={onChange}>
          {values.map((each) => (
            <option key={each} value={each}>
              {each === '' ? 'All' : show(each)}
            </option>
          ))}
        </select>
      )}
    </label>
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

/** Rows of a page. The service gives at most 20. */
const pageSize = 10

type Page<Row> = { records: Row[]; total: number; pages: number; current: number }

interface ListProps<Row, Query> extends Omit<TableProps<Row>, 'rows'> {
  title: string
  filters?: ChoiceProps[]
  /** Asks the service for a page of the list. */
  request: (query: Query) => Answer<{ data: Page<Row> }>
  /** Asks for the whole list as CSV. */
  save?: (filters: Query) => Answer<Blob>
  /** How often the page is read again. */
  refetchInterval?: number
}

/** A list of the service: its filters, one page of it, the number of all, and the way to the other pages. */
export function List<Row extends object, Query>(props: ListProps<Row, Query>) {
  const { title, name, columns, empty, filters = [], request, save, refetchInterval = 0 } = props
  const { chosen, choose } = useChoices()
  const filtered = Object.fromEntries(filters.map((filter) => [filter.name, chosen[filter.name]])) as Query
  const page = Math.max(1, Math.floor(Number(chosen[name])) || 1)
  const query = useQuery({
    queryKey: [name, chosen],
    queryFn: () => dataOf(request({ ...filtered, current: page, size: pageSize })),
    placeholderData: (previous) => previous,
    refetchInterval,
  })
  return (
    <Card title={title} actions={save && <SaveButton name={`${name}.csv`} request={() => save(filtered)} />}>
      <search class="filters">
        {filters.map((filter) => (
          <Choice key={filter.name} {...filter} list={name} />
        ))}
      </search>
      <Loaded query={query} lines={20}>
        {({ records, total, pages, current }) => (
          <>
            <Table name={name} rows={records} columns={columns} empty={empty} />
            <nav class="pager" aria-label={`Pages of ${name}`}>
              <p role="status">
                {`Page ${showCount(current)} of ${showCount(Math.max(pages, 1))} · ${showCount(total)} ${name}`}
              </p>
              {Math.max(pages, current) > 1 &&
                Object.entries({ First: 1, Previous: current - 1, Next: current + 1, Last: pages }).map(
                  ([text, target]) => (
                    <Button
                      key={text}
                      disabled={target === current || target < 1 || target > pages}
                      onClick={() => choose({ [name]: String(target) })}
                    >
                      {text}
                    </Button>
                  ),
                )}
            </nav>
          </>
        )}
      </Loaded>
    </Card>
  )
}

import { make } from '../../../authorization-page/dom.ts'

type Child = Node | string

/** A card with a title, and a place inside that says what went wrong. */
export interface Panel {
  element: HTMLElement
  body: HTMLElement
  /** Does some work for this panel and shows its failure here. */
  attempt: (work: () => Promise<void>) => Promise<void>
}

export function makePanel(id: string, title: string): Panel {
  const body = make('div', {})
  const problem = make('p', { class: 'problem', role: 'alert' })
  const element = make(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    make('h2', { id: `${id}-title` }, title),
    problem,
    body,
  )
  return {
    element,
    body,
    async attempt(work) {
      problem.replaceChildren()
      element.setAttribute('aria-busy', 'true')
      try {
        await work()
      } catch (error) {
        problem.replaceChildren(error instanceof Error ? error.message : String(error))
      } finally {
        element.removeAttribute('aria-busy')
      }
    },
  }
}

/** A column of a table: what it is called and what a row shows in it. */
export interface Column<Row> {
  head: string
  cell: (row: Row) => Child
  numeric?: boolean
}

/** A table that scrolls by itself where the window is narrow, or a sentence where there is nothing to show. */
export function makeTable<Row>(
  label: string,
  columns: Column<Row>[],
  rows: Row[],
  none: string,
): HTMLElement {
  if (rows.length === 0) return make('p', { class: 'none' }, none)
  const head = columns.map(({ head, numeric }) =>
    make('th', { scope: 'col', class: numeric ? 'number' : undefined }, head),
  )
  const body = rows.map((row) =>
    make(
      'tr',
      {},
      ...columns.map(({ cell, numeric }) => make('td', { class: numeric ? 'number' : undefined }, cell(row))),
    ),
  )
  return make(
    'div',
    { class: 'scroll', role: 'group', 'aria-label': label, tabindex: '0' },
    make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...body)),
  )
}

/** A labelled input of a filter. */
export function makeFilter(label: string, control: HTMLElement): HTMLElement {
  return make('label', { class: 'filter' }, make('span', {}, label), control)
}

/** A choice between values, each with the words for it; the first is the one that is chosen. */
export const makeSelect = (name: string, options: [value: string, words: string][]): HTMLSelectElement =>
  make('select', { name }, ...options.map(([value, words]) => make('option', { value }, words)))

/** A page of any of the API's lists. */
export interface Page<Item> {
  records: Item[]
  total: number
  size: number
  current: number
  pages: number
}

/** Buttons to the neighbouring pages, and where one is. */
export function makePager<Item>(
  { current, pages, total }: Page<Item>,
  go: (page: number) => void,
): HTMLElement {
  if (total === 0) return make('div', {})
  const step = (words: string, page: number) =>
    make('button', { type: 'button', disabled: page < 1 || page > pages, onclick: () => go(page) }, words)
  return make(
    'div',
    { class: 'pager' },
    step('Previous', current - 1),
    make('span', { role: 'status' }, `page ${Math.min(current, pages)} of ${pages}, ${total} in all`),
    step('Next', current + 1),
  )
}

/** The day of an instant, as the reader writes days. */
export const showDay = (milliseconds: number): HTMLElement =>
  make(
    'time',
    { datetime: new Date(milliseconds).toISOString() },
    new Date(milliseconds).toLocaleDateString(),
  )

/** An instant in the reader's own words. */
export const showInstant = (milliseconds: number): HTMLElement =>
  make('time', { datetime: new Date(milliseconds).toISOString() }, new Date(milliseconds).toLocaleString())

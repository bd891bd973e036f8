import { make } from '../../../authorization-page/dom.ts'

/** A row of a table. Each column shows the member of the same name. */
export type Row = Record<string, string | number | boolean | null | undefined>

/** Makes a scrolling table of the named columns, or a sentence if there are no rows. */
export function makeTable(columns: string, rows: Row[], none: string): HTMLElement {
  if (rows.length === 0) return make('p', {}, none)
  const names = columns.split(' ')
  const head = names.map((name) => make('th', { scope: 'col' }, name.replaceAll('_', ' ')))
  const body = rows.map((row) =>
    make('tr', {}, ...names.map((name) => make('td', {}, showMember(name, row[name])))),
  )
  const table = make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...body))
  return makeScroll(columns, table)
}

const showMember = (name: string, value: Row[string]): Node | string =>
  typeof value === 'number' && /(^|_)at$/.test(name) ? showInstant(value) : String(value ?? '')

/** Makes a scrolling list of entries, or a sentence if there are none. */
export const makeEntries = (entries: HTMLElement[][], none: string): HTMLElement[] =>
  entries.length === 0
    ? [make('p', {}, none)]
    : [makeScroll('entries', make('ul', {}, ...entries.map((entry) => make('li', {}, ...entry))))]

// tabindex makes a scrolling element reachable by keyboard (WCAG 2.1.1).
const makeScroll = (label: string, content: HTMLElement) =>
  make('div', { class: 'scroll', role: 'group', 'aria-label': label, tabindex: '0' }, content)

export const makeDetails = (summary: string, content: HTMLElement): HTMLElement =>
  make('details', {}, make('summary', {}, summary), content)

/** Makes a time element that shows an instant in the browser's own date format. */
export const showInstant = (milliseconds: number): HTMLElement => {
  const date = new Date(milliseconds)
  return make('time', { datetime: date.toISOString() }, date.toLocaleString())
}

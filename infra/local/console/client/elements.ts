import { make } from '../../../authorization-page/dom.ts'

type Child = Node | string

/** A card with a title, a body and a line for an error message. */
export interface Panel {
  element: HTMLElement
  body: HTMLElement
  /** Runs some work of the panel, and shows its error in the panel. */
  attempt: (work: () => Promise<void>) => Promise<void>
}

export function makePanel(id: string, title: string): Panel {
  const body = make('div')
  const problem = make('p', { class: 'problem', role: 'alert' })
  const heading = make('h2', { id: `${id}-title` }, title)
  const element = make('section', { id, 'aria-labelledby': `${id}-title` }, heading, problem, body)
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

/** A record of the API or of the local stack. Tables show its members under the API's own names. */
export type Row = Record<string, string | number | boolean | null | undefined>

/** Columns, by name, that show something else than the member of that name. */
export type Cells = Record<string, (row: Row) => Child>

/** Makes a scrolling table of the named columns, or a sentence if there are no rows. */
export function makeTable(label: string, columns: string, rows: Row[], none: string, cells: Cells = {}) {
  if (rows.length === 0) return make('p', { class: 'none' }, none)
  const names = columns.split(' ').map((name) => {
    const isNumber = rows.every((row) => /^-?\d+(\.\d+)?$/.test(String(row[name])))
    return [name, { class: isNumber && !isInstant(name) ? 'number' : undefined }] as const
  })
  const head = names.map(([name, attributes]) =>
    make('th', { scope: 'col', ...attributes }, name.replaceAll('_', ' ')),
  )
  const body = rows.map((row) => {
    const shown = names.map(([name, attributes]) =>
      make('td', attributes, cells[name]?.(row) ?? showMember(name, row[name])),
    )
    return make('tr', {}, ...shown)
  })
  const table = make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...body))
  // tabindex makes the scrolling table reachable by keyboard (WCAG 2.1.1).
  return make('div', { class: 'scroll', role: 'group', 'aria-label': label, tabindex: '0' }, table)
}

const isInstant = (name: string): boolean => /(^|_)at$/.test(name)

const showMember = (name: string, value: Row[string]): Child =>
  typeof value === 'number' && isInstant(name) ? showInstant(value) : String(value ?? '')

/** One page of a paged list of the API. */
interface ListPage {
  records: Row[]
  total: number
  current: number
  pages: number
}

type Control = HTMLInputElement | HTMLSelectElement

interface PagedList {
  label: string
  /** Filter controls by label. The name of a control is its query parameter. */
  filters?: Record<string, Control>
  /** Further elements after the filters, such as buttons. */
  extras?: HTMLElement[]
  read: (query: Record<string, string | number>) => Promise<ListPage>
  size: number
  /** Names of the columns, as for `makeTable`. */
  columns: string
  cells?: Cells
  none: string
}

/** Shows a paged list of the API, and returns to its first page when a filter changes. */
export function showPagedList(panel: Panel, list: PagedList): void {
  const { label, filters, extras = [], read, size, columns, cells, none } = list
  const place = make('div')
  let lastRequest = 0
  const load = (current: number): Promise<void> =>
    panel.attempt(async () => {
      const request = (lastRequest += 1)
      const page = await read({ ...readControls(filters ?? {}), current, size })
      // Drops an outdated answer: the filters have changed since it was requested.
      if (request !== lastRequest) return
      place.replaceChildren(makeTable(label, columns, page.records, none, cells), makePager(page, load))
    })
  const reload = (event?: Event) => {
    event?.preventDefault()
    void load(1)
  }
  if (filters !== undefined) {
    const labelled = Object.entries(filters).map(([text, control]) => makeFilter(text, control))
    const attributes = { class: 'filters', 'aria-label': `Filter ${label.toLowerCase()}` }
    const events = { onchange: reload, onsubmit: reload }
    panel.body.append(make('form', { ...attributes, ...events }, ...labelled, ...extras))
  }
  panel.body.append(place)
  reload()
}

/** Reads the values of controls, by their names. */
export const readControls = (controls: Record<string, Control>): Record<string, string> =>
  Object.fromEntries(Object.values(controls).map(({ name, value }) => [name, value.trim()]))

function makePager({ current, pages, total }: ListPage, load: (page: number) => Promise<void>) {
  if (total === 0) return ''
  const step = (text: string, page: number) =>
    makeButton(text, () => void load(page), { disabled: page < 1 || page > pages })
  const position = `page ${Math.min(current, pages)} of ${pages}, ${total} in all`
  return make(
    'div',
    { class: 'pager' },
    step('Previous', current - 1),
    make('span', { role: 'status' }, position),
    step('Next', current + 1),
  )
}

export const makeButton = (text: string, onclick: () => void, attributes = {}): HTMLButtonElement =>
  make('button', { type: 'button', ...attributes, onclick }, text)

/** Makes a labelled control in a row of filters. */
export const makeFilter = (label: string, control: HTMLElement): HTMLElement =>
  make('label', { class: 'filter' }, make('span', {}, label), control)

/** Makes a select with these values and texts. The first one is selected. */
export const makeSelect = (name: string, options: Record<string, string>): HTMLSelectElement =>
  make('select', { name }, ...Object.entries(options).map(([text, value]) => make('option', { value }, text)))

export const makeInput = (name: string, attributes: Record<string, string> = {}): HTMLInputElement =>
  make('input', { name, autocomplete: 'off', ...attributes })

/** Makes a definition list of names and values. */
export function makeFacts(className: string, facts: Record<string, Child>): HTMLElement {
  const pairs = Object.entries(facts).map(([name, value]) =>
    make('div', {}, make('dt', {}, name), make('dd', {}, value)),
  )
  return make('dl', { class: className }, ...pairs)
}

export const makeDetails = (summary: string, content: HTMLElement): HTMLElement =>
  make('details', {}, make('summary', {}, summary), content)

export const code = (text: string): HTMLElement => make('code', {}, text)

/** Makes a text element that keeps line breaks. */
export const preformatted = (text: string): HTMLElement => make('pre', { class: 'wrap' }, text)

/** Makes a time element that shows an instant in the browser's own date format. */
export const showInstant = (milliseconds: number): HTMLElement => {
  const date = new Date(milliseconds)
  return make('time', { datetime: date.toISOString() }, date.toLocaleString())
}

/** Makes an SVG element. */
export function makeSvg(
  name: string,
  attributes: Record<string, string | number>,
  ...children: Child[]
): Element {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value))
  element.append(...children)
  return element
}

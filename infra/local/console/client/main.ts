import { make } from '../../../authorization-page/dom.ts'
import * as ui from './elements.ts'

interface Panel {
  title: string
  /** Path of the panel's data below `/_local/`. */
  path: () => string
  draw: (data: never) => Node[]
  /** Elements above the panel's data that stay when the data is drawn again. */
  controls?: HTMLElement
}

interface Outbox {
  messages: { to: string; subject: string; text: string; sent_at: number }[]
}

interface Queues {
  queues: ui.Row[]
  dead_letters: { queue: string; sent_at: number; reason: string | null; body: string }[]
}

const refreshMilliseconds = 3000
const maxMails = 20

const recipient = make('input', { type: 'search', placeholder: 'everyone', 'aria-label': 'To' })

const panels: Record<string, Panel> = {
  users: {
    title: 'Demo users',
    path: () => 'users',
    draw: ({ users }: Record<'users', ui.Row[]>) => [
      ui.makeTable('email password totp_secret', users, 'Started with --no-demo: there are none.'),
    ],
  },
  outbox: {
    title: 'Outbox',
    path: () => `outbox?${new URLSearchParams(recipient.value === '' ? {} : { to: recipient.value.trim() })}`,
    draw: ({ messages }: Outbox) =>
      ui.makeEntries(
        messages
          .slice(0, maxMails)
          .map(({ to, subject, text, sent_at: sentAt }) => [
            make('p', {}, ui.showInstant(sentAt), ` to ${to}`),
            make('strong', {}, subject),
            make('pre', {}, text),
          ]),
        'No mail yet.',
      ),
    controls: recipient,
  },
  queues: { title: 'Queues', path: () => 'queues', draw: showQueues },
  facts: { title: 'What runs', path: () => 'stack', draw: showFacts },
}

/** Shows the queues with their message counts, and the rejected events with their reasons. */
function showQueues({ queues, dead_letters: letters }: Queues): Node[] {
  const entries = letters.map(({ queue, sent_at: sentAt, reason, body }) => [
    make('p', {}, ui.showInstant(sentAt), ` ${queue}`),
    make('strong', { class: 'bad' }, reason ?? 'received too often'),
    ui.makeDetails('The event', make('pre', {}, body)),
  ])
  return [
    ui.makeTable('name visible inFlight delayed', queues, 'There are none.'),
    make('h3', {}, 'Dead letters'),
    ...ui.makeEntries(entries, 'None: every event was applied.'),
  ]
}

function showFacts({ functions, ...stack }: Record<string, unknown> & { functions: ui.Row[] }): Node[] {
  const link = (href: string, text = href) => make('a', { href }, text)
  const facts = Object.entries(stack).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [make('dt', {}, name), make('dd', {}, value.startsWith('http') ? link(value) : value)]
      : [],
  )
  return [
    make('p', {}, link('/_local/docs', 'The API reference: every endpoint, with examples')),
    make('p', {}, link('/_local/asyncapi.json', 'The events as AsyncAPI, with examples')),
    make('dl', {}, ...facts),
    ui.makeDetails(`${functions.length} functions`, ui.makeTable('name route', functions, 'None.')),
  ]
}

/** Adds a panel to the page. Returns a function that fetches the panel's data and draws the panel again. */
function addPanel([id, { title, path, draw, controls }]: [string, Panel]): () => Promise<void> {
  const body = make('div')
  document.querySelector('main')?.append(make('section', { id }, make('h2', {}, title), controls, body))
  let shown: string | undefined
  return async () => {
    const response = await fetch(`/_local/${path()}`)
    if (!response.ok) throw new Error(`/_local/${path()} answered ${response.status}`)
    const text = await response.text()
    // Unchanged data is not drawn again, so that selections and open details stay.
    if (text !== shown) body.replaceChildren(...draw(JSON.parse(text) as never))
    shown = text
  }
}

const refreshes = Object.entries(panels).map(addPanel)
const state = document.querySelector('#state')

async function refresh(): Promise<void> {
  const problem = await Promise.all(refreshes.map((refreshPanel) => refreshPanel())).then(
    () => undefined,
    (error: unknown) => String(error),
  )
  if (state !== null) state.textContent = problem ?? 'running'
  state?.classList.toggle('bad', problem !== undefined)
}

recipient.addEventListener('input', () => void refresh())
void refresh()
setInterval(() => void refresh(), refreshMilliseconds)

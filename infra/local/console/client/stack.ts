import { make } from '../../../authorization-page/dom.ts'
import * as ui from './elements.ts'
import { drawTimeline, type SigningKey } from './timeline.ts'

/** The answer of `/_local/stack`, with the members that the console uses by name. */
export interface Stack extends Record<string, unknown> {
  base_url: string
  functions: ui.Row[]
}

interface Outbox {
  messages: { to: string; subject: string; text: string; sent_at: number }[]
}

interface Queues {
  queues: ui.Row[]
  dead_letters: { queue: string; sent_at: number; reason: string | null; body: string }[]
}

interface Keys {
  keys: SigningKey[]
  evidence: { sequence: number; at: number; action: string; trigger: { kind: string }; hash: string }[]
  next_due: number | null
}

const refreshMilliseconds = 3000
const maxMails = 20

/** A panel of the console that shows one resource below `/_local/`. */
interface StackPanel {
  element: HTMLElement
  /** Path of the resource below `/_local/`. */
  path: () => string
  show: (data: unknown) => void
}

/** Reads a resource below `/_local/` as JSON. Throws if the local stack does not answer. */
export async function readLocal<Data>(path: string): Promise<Data> {
  const response = await fetch(`/_local/${path}`)
  if (!response.ok) throw new Error(`/_local/${path} answered ${response.status}`)
  return (await response.json()) as Data
}

/** Shows the panels about the local stack, and refreshes them every few seconds. */
export function watchStack(): void {
  const state = document.querySelector('#state')
  const setState = (text: string, className: string) => {
    if (state === null || state.textContent === text) return
    state.textContent = text
    state.className = className
  }
  const refresh = async (): Promise<void> => {
    try {
      await Promise.all(panels.map(async ({ path, show }) => show(await readLocal(path()))))
      setState('running', '')
    } catch (error) {
      setState(error instanceof Error ? error.message : String(error), 'bad')
    }
  }
  const panels: StackPanel[] = [
    makeStackPanel('users', 'Demo users', showUsers),
    makeOutbox(() => void refresh()),
    makeStackPanel('keys', 'Signing keys', showKeys),
    makeStackPanel('queues', 'Queues', showQueues),
    makeStackPanel('stack', 'What runs', showFacts),
  ]
  document.querySelector('#stack')?.replaceChildren(...panels.map(({ element }) => element))
  void refresh()
  setInterval(() => void refresh(), refreshMilliseconds)
}

/** Makes a panel that is redrawn only when its data changes, so that selections and open details stay. */
function makeStackPanel(name: string, title: string, draw: (data: never) => Node[]): StackPanel {
  const panel = ui.makePanel(name === 'stack' ? 'facts' : name, title)
  let shown: string | undefined
  return {
    element: panel.element,
    path: () => name,
    show(data) {
      const text = JSON.stringify(data)
      if (text !== shown) panel.body.replaceChildren(...draw(data as never))
      shown = text
    },
  }
}

function showFacts({ functions, ...stack }: Stack): HTMLElement[] {
  const link = (href: string, text = href) => make('a', { href }, text)
  const facts = Object.entries(stack).flatMap(([name, value]) => {
    if (typeof value !== 'string') return []
    return [[name.replaceAll('_', ' '), value.startsWith('http') ? link(value) : ui.code(value)] as const]
  })
  return [
    make('p', {}, link('/_local/docs', 'The API reference: every endpoint, with examples')),
    ui.makeFacts('facts', Object.fromEntries(facts)),
    ui.makeDetails(
      `${functions.length} functions`,
      ui.makeTable('Functions', 'name route', functions, 'None.'),
    ),
  ]
}

const showUsers = ({ users }: Record<'users', ui.Row[]>): HTMLElement[] => [
  ui.makeTable('Demo users', 'email password totp_secret', users, 'Started with --no-demo: there are none.', {
    totp_secret: ({ totp_secret: secret = 'by mail' }) => String(secret),
  }),
]

/** Makes the panel of sent mails, newest first, to everyone or to one address. */
function makeOutbox(refresh: () => void): StackPanel {
  const to = ui.makeInput('to', { type: 'search', placeholder: 'everyone', spellcheck: 'false' })
  to.addEventListener('input', refresh)
  const panel = makeStackPanel('outbox', 'Outbox', ({ messages }: Outbox) => {
    const entries = messages
      .slice(0, maxMails)
      .map((mail) => [
        make('p', { class: 'soft' }, ui.showInstant(mail.sent_at), ` to ${mail.to}`),
        make('strong', {}, mail.subject),
        ui.preformatted(mail.text),
      ])
    return [showEntries('Mails', entries, 'No mail yet.')]
  })
  panel.element.querySelector('.problem')?.after(ui.makeFilter('To', to))
  const path = () => `outbox?${new URLSearchParams(to.value.trim() === '' ? {} : { to: to.value.trim() })}`
  return { ...panel, path }
}

/** Shows the queues with their message counts, and the rejected events with their reasons. */
function showQueues({ queues, dead_letters: letters }: Queues): HTMLElement[] {
  const sources = queues.filter(({ isDeadLetterQueue }) => isDeadLetterQueue !== true)
  const counts = ['visible', 'inFlight', 'delayed']
  const busy = sources.filter((queue) => counts.some((name) => queue[name] !== 0))
  const none = `All ${sources.length} queues are empty.`
  const entries = letters.map(({ queue, sent_at, reason, body }) => [
    make('p', { class: 'soft' }, ui.showInstant(sent_at), ' ', ui.code(queue)),
    make('strong', { class: 'bad' }, reason ?? 'received too often'),
    ui.makeDetails('The event', ui.preformatted(indent(body))),
  ])
  return [
    ui.makeTable('Queues with messages', `name ${counts.join(' ')}`, busy, none),
    make('h3', {}, 'Dead letters'),
    showEntries('Dead letters', entries, 'None: every event was applied.'),
  ]
}

/** Makes a scrolling list that the keyboard can reach (WCAG 2.1.1). */
function showEntries(label: string, entries: HTMLElement[][], none: string): HTMLElement {
  if (entries.length === 0) return make('p', { class: 'none' }, none)
  const items = entries.map((entry) => make('li', {}, ...entry))
  return make('ol', { class: 'entries', tabindex: '0', 'aria-label': label }, ...items)
}

function indent(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    // The body of a rejected event may not be JSON; it is then shown as it is.
    return body
  }
}

/** Shows the signing keys, a timeline of their states, and the record of every transition. */
function showKeys({ keys, evidence, next_due: nextDue }: Keys): Node[] {
  const rows = keys.toReversed().map((key) => ({
    ...key,
    since: key.retired_at ?? key.retiring_at ?? key.active_at ?? key.published_at,
  }))
  const steps = evidence.toReversed().map(({ trigger, ...step }) => ({ ...step, trigger: trigger.kind }))
  const short = (name: string) => (row: ui.Row) => ui.code(String(row[name]).slice(0, 12))
  return [
    drawTimeline(keys),
    ui.makeTable('Signing keys', 'kid state since', rows, 'No key yet.', {
      kid: short('kid'),
      since: ({ since }) => ui.showInstant(Number(since)),
    }),
    make('p', { class: 'soft' }, 'Next step: ', nextDue === null ? 'none' : ui.showInstant(nextDue)),
    ui.makeDetails(
      `Evidence (${evidence.length})`,
      ui.makeTable('Evidence', 'sequence at action trigger hash', steps, 'No step yet.', {
        hash: short('hash'),
      }),
    ),
  ]
}

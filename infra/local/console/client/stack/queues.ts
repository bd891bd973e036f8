import { make } from '../../../../authorization-page/dom.ts'
import { makePanel, makeTable, showInstant } from '../view.ts'
import { showChanges } from './read-local.ts'

interface Queue {
  name: string
  visible: number
  inFlight: number
  delayed: number
  isDeadLetterQueue: boolean
}

interface DeadLetter {
  queue: string
  sent_at: number
  reason: string | null
  body: string
}

/** The answers of `/_local/queues` and `/_local/dead-letters`. */
export interface Queues {
  queues: Queue[]
  dead_letters: DeadLetter[]
}

const waiting = ({ visible, inFlight, delayed }: Queue): number => visible + inFlight + delayed

/** What waits in the queues, and what was refused and why. */
export function makeQueues(): { element: HTMLElement; show: (queues: Queues) => void } {
  const panel = makePanel('queues', 'Queues')
  const show = showChanges(({ queues, dead_letters: deadLetters }: Queues) => {
    const sources = queues.filter(({ isDeadLetterQueue }) => !isDeadLetterQueue)
    const busy = sources.filter((queue) => waiting(queue) > 0)
    const table = makeTable(
      'Queues with messages',
      [
        { head: 'Queue', cell: ({ name }) => make('code', {}, name) },
        { head: 'Waiting', numeric: true, cell: ({ visible }) => String(visible) },
        { head: 'In flight', numeric: true, cell: ({ inFlight }) => String(inFlight) },
        { head: 'Put off', numeric: true, cell: ({ delayed }) => String(delayed) },
      ],
      busy,
      `All ${sources.length} queues are empty.`,
    )
    panel.body.replaceChildren(table, make('h3', {}, 'Dead letters'), showDeadLetters(deadLetters))
  })
  return { element: panel.element, show }
}

function showDeadLetters(letters: DeadLetter[]): HTMLElement {
  if (letters.length === 0) return make('p', { class: 'none' }, 'None: every event was applied.')
  const items = letters.map(({ queue, sent_at, reason, body }) =>
    make(
      'li',
      {},
      make('p', { class: 'soft' }, showInstant(sent_at), ' ', make('code', {}, queue)),
      make('strong', { class: 'bad' }, reason ?? 'received too often'),
      make('details', {}, make('summary', {}, 'The event'), make('pre', { class: 'wrap' }, indent(body))),
    ),
  )
  return make('ol', { class: 'mails', tabindex: '0', 'aria-label': 'Dead letters' }, ...items)
}

function indent(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    // A body that is no JSON is just what may have been refused: it is shown as it is.
    return body
  }
}

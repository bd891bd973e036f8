import { html } from 'lit-html'
import { fillEvent } from './events.ts'
import { parseExact } from './exact-json.ts'
import { makeButton, operate, type Panel, showInstant } from './panel.ts'

type Letter = { queue: string; sent_at: number; reason: string | null; body: string }
type Queue = { isDeadLetterQueue: boolean } & Record<'visible' | 'inFlight' | 'delayed', number>

/** Shows the number of waiting events, and the dead letters, which can be corrected or sent again. */
export const deadLetters: Panel = {
  title: 'Dead letters',
  path: () => 'queues',
  draw: ({ queues, dead_letters: letters }: { queues: Queue[]; dead_letters: Letter[] }) => {
    const waiting = queues
      .filter((queue) => !queue.isDeadLetterQueue)
      .reduce((sum, { visible, inFlight, delayed }) => sum + visible + inFlight + delayed, 0)
    const fillRefused = () => fillEvent('wallet.adjusted', { user_id: 'nobody' })
    return html`<p>Events that wait in a queue: ${waiting}. Dead letters: ${letters.length}.</p>
      ${letters.length === 0 ? makeButton('Fill in an event that is refused', fillRefused) : ''}
      <ul>
        ${letters.map(showLetter)}
      </ul>`
  },
}

function showLetter({ queue, sent_at: sentAt, reason, body }: Letter) {
  const event = readEvent(body)
  return html`<li>
    <strong>${reason ?? 'no rule takes it, or received too often'}</strong>
    <p>${queue}, ${showInstant(sentAt)}</p>
    <details>
      <summary>The event</summary>
      <pre>${event === undefined ? body : JSON.stringify(event, undefined, 2)}</pre>
    </details>
    <p class="line">
      ${makeButton('Send this queue again', () => redrive(queue))}
      ${event && makeButton('Edit in the form', () => fillEvent(event['detail-type'], event.detail))}
    </p>
  </li>`
}

/** Reads the event in a dead letter; undefined for a message that is none: anybody can send to a queue. */
function readEvent(body: string): { 'detail-type': string; detail?: object } | undefined {
  try {
    const event = parseExact(body) as { 'detail-type'?: unknown } | null
    return typeof event?.['detail-type'] === 'string' ? (event as ReturnType<typeof readEvent>) : undefined
  } catch {
    return undefined
  }
}

async function redrive(queue: string): Promise<string> {
  const { redriven } = await operate<{ redriven: number }>(`dlq redrive ${queue}`)
  return `${redriven} sent again. An event that is refused again comes back.`
}

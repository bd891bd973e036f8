import { html } from 'lit-html'
import { deadLetters } from './dead-letters.ts'
import { events } from './events.ts'
import { keys } from './keys.ts'
import { outcomes } from './outcomes.ts'
import { addPanel, type Panel, showInstant } from './panel.ts'
import { users } from './users.ts'

const refreshMilliseconds = 3000
const maxMails = 8

type Mail = Record<'to' | 'subject' | 'text', string> & { sent_at: number }

const outbox: Panel = {
  title: 'Mail',
  path: () => 'outbox',
  draw: ({ messages }: { messages: Mail[] }) => {
    const part = document.querySelector('input')?.value.trim().toLowerCase() ?? ''
    const found = messages.filter(({ to }) => to.toLowerCase().includes(part))
    const none = 'No mail yet. Sign in as Bob: who has no authenticator gets a code by mail.'
    const count = found.length > maxMails ? `The newest ${maxMails} of ${found.length}:` : ''
    return html`<label>Mail to <input type="search" placeholder="everyone" @input=${refresh} /></label>
      ${found.length > 0 ? count : messages.length > 0 ? 'No mail to such an address.' : none}
      <ul>
        ${found.slice(0, maxMails).map(
          ({ to, subject, text, sent_at: sentAt }) =>
            html`<li>
              <small>${showInstant(sentAt)} to ${to}</small>
              <details>
                <summary>${subject}</summary>
                <pre>${text}</pre>
              </details>
            </li>`,
        )}
      </ul>`
  },
}

const stack: Panel = {
  title: 'What runs',
  path: () => 'stack',
  draw: (facts: Record<string, unknown>) => {
    const texts = Object.entries(facts).filter(([, value]) => typeof value === 'string')
    return html`<dl>
      ${texts.map(
        ([name, value]) =>
          html`<div>
            <dt>${showName(name)}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>`
  },
}

const showName = (name: string) =>
  name.replaceAll('_', ' ').replace(/\b(url|aws|id|arn)\b|^./g, (word) => word.toUpperCase())

const refreshes = Object.entries({ users, events, outcomes, keys, queues: deadLetters, outbox, stack }).map(
  addPanel,
)

async function refresh(): Promise<void> {
  const all = Promise.all(refreshes.map((refreshPanel) => refreshPanel()))
  const state = await all.then(() => 'running', String)
  document.querySelector('#state')?.replaceChildren(state)
  // Until every panel has its data, each that gets some would move the others.
  document.querySelector('main')?.removeAttribute('hidden')
}

addEventListener('changed', () => void refresh())
void refresh()
setInterval(() => void refresh(), refreshMilliseconds)

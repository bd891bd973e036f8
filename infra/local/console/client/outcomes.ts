import { html } from 'lit-html'
import { type Panel, showInstant } from './panel.ts'

type Outcome = Record<'detail_type' | 'business_key' | 'outcome', string> & { at: number; reason?: string }

const maxOutcomes = 12

/** Shows what became of events, as their senders are told on the bus. */
export const outcomes: Panel = {
  title: 'Outcomes',
  path: () => 'outcomes',
  draw: ({ outcomes: told }: { outcomes: Outcome[] }) =>
    html`<p>
        ${
          told.length === 0
            ? 'Nothing was told since the start. Put an event.'
            : 'What the senders of events are told on the bus, the newest first:'
        }
      </p>
      <ul>
        ${told.slice(0, maxOutcomes).map(showOutcome)}
      </ul>`,
}

function showOutcome(told: Outcome) {
  const { detail_type: detailType, business_key: key, outcome, reason, at } = told
  return html`<li>
    <small>${showInstant(at)}</small>
    <details>
      <summary>${detailType}: ${outcome}${reason === undefined ? '' : `, ${reason}`}</summary>
      <p>${key}</p>
      <pre>${JSON.stringify(told, undefined, 2)}</pre>
    </details>
  </li>`
}

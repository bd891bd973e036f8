import { html } from 'lit-html'
import { parseExact } from './exact-json.ts'
import { makeButton, operate, type Panel } from './panel.ts'

/** A message of the AsyncAPI document, with the members that this panel uses. */
interface Message {
  description: string
  examples?: { payload: object }[]
  /** Template of an event's business key: `{name}` stands for the member `name` of the payload. */
  'x-business-key': string
}

let messages: Record<string, Message> = {}
/** The event with which the form was last filled: its detail-type, and its detail as JSON. */
let filled = { name: '', detail: '' }

/** A form to put events on the bus. The form is filled with an example from the AsyncAPI document. */
export const events: Panel = {
  title: 'Put an event',
  path: () => 'asyncapi.json',
  draw: (document: { components: { messages: Record<string, Message> } }) => {
    ;({ messages } = document.components)
    if (filled.name === '') void fillEvent('wallet.adjusted')
    const names = Object.keys(messages).filter((name) => messages[name]?.examples !== undefined)
    const choose = ({ target }: Event) => fillEvent((target as HTMLSelectElement).value)
    return html`<label
        >Kind of event
        <select @change=${choose}>
          ${names.map((name) => html`<option ?selected=${name === filled.name}>${name}</option>`)}
        </select></label
      >
      <p>${messages[filled.name]?.description}</p>
      <label
        >Detail, as JSON <textarea rows="11" spellcheck="false" .value=${filled.detail}></textarea>
      </label>
      ${makeButton('Put the event', put)}`
  },
}

/** Fills the form with `payload`, or else with an example that has new ids. */
export async function fillEvent(name: string, payload?: object): Promise<string> {
  const { examples, 'x-business-key': key = '' } = messages[name] ?? {}
  const now = Date.now()
  // An event takes effect only once, so the ids in the example are replaced by new ones.
  const renew = (member: string, value: unknown) => {
    if (/(^|_)(at|as_of)$/.test(member)) return now
    if (member === 'email') return `user-${now}@example.com`
    if (!/id$/.test(member) || !key.includes(`{${member}}`)) return value
    return typeof value === 'number' ? now : `${String(value)}-${now}`
  }
  filled = { name, detail: JSON.stringify(payload ?? examples?.[0]?.payload, payload ? undefined : renew, 2) }
  const field = document.querySelector('textarea')
  if (field !== null) field.value = filled.detail
  dispatchEvent(new Event('changed'))
  return 'The event is in the form.'
}

async function put(): Promise<string> {
  const detail = parseExact(document.querySelector('textarea')?.value ?? '')
  const input = JSON.stringify({ 'detail-type': filled.name, detail })
  const result = await operate<{ applied: boolean; refused: { reason: string }[] }>('events put -', input)
  if (result.refused[0]) throw new Error(`The event was refused: ${result.refused[0].reason}`)
  return result.applied ? 'The event has taken effect.' : 'The event still waits in its queue.'
}

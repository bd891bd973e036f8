import { make } from '../../../../authorization-page/dom.ts'
import { makeFilter, makePanel, showInstant } from '../view.ts'
import { showChanges } from './read-local.ts'

/** The answer of `/_local/outbox`. */
export interface Outbox {
  messages: { to: string; subject: string; text: string; sent_at: number }[]
}

/** Most mails to show. */
const most = 20

/** The mails that would have left, newest first. */
export function makeOutbox(refresh: () => void): {
  element: HTMLElement
  /** Path of what to read: everybody's mails or those to one address. */
  path: () => string
  show: (outbox: Outbox) => void
} {
  const panel = makePanel('outbox', 'Outbox')
  const to = make('input', {
    type: 'search',
    placeholder: 'everyone',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: refresh,
  })
  // It scrolls, so the keyboard must reach it (WCAG 2.1.1).
  const list = make('ol', { class: 'mails', tabindex: '0', 'aria-label': 'Mails' })
  panel.body.append(makeFilter('To', to), list)
  const show = showChanges(({ messages }: Outbox) => {
    const items = messages
      .slice(0, most)
      .map((mail) =>
        make(
          'li',
          {},
          make('p', { class: 'soft' }, showInstant(mail.sent_at), ` to ${mail.to}`),
          make('strong', {}, mail.subject),
          make('pre', { class: 'wrap' }, mail.text),
        ),
      )
    list.replaceChildren(...(items.length > 0 ? items : [make('li', { class: 'none' }, 'No mail yet.')]))
  })
  const path = () => (to.value.trim() === '' ? 'outbox' : `outbox?to=${encodeURIComponent(to.value.trim())}`)
  return { element: panel.element, path, show }
}

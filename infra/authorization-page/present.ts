import { icon, make } from './dom.ts'
import type { View } from './step.ts'

const card = document.querySelector<HTMLElement>('#card')
if (card === null) throw new Error('the page has no card')

/** Shows a view on the page: replaces the card's content, sets the document title, and moves the focus. */
export function present(view: View): void {
  const heading = make('h1', { id: 'heading', tabindex: '-1' }, view.title)
  card?.replaceChildren(icon('mark', 'mark'), heading, ...view.content)
  document.title = view.title
  ;(view.focus ?? heading).focus()
}

/** Shows that the page waits for the service. */
export const presentWaiting = (): void =>
  card.replaceChildren(icon('mark', 'mark'), make('p', { class: 'lead', role: 'status' }, 'One moment …'))

import { forgetAllowed, hasAllowed } from './device.ts'
import { make, makeButton } from './dom.ts'

/** Creates the button that forgets what was allowed on this device; undefined if nothing was. */
export function makeForget(): HTMLElement | undefined {
  if (!hasAllowed()) return undefined
  const element = make('div', { class: 'links' })
  const forget = () => {
    forgetAllowed()
    const done = make('p', { role: 'status', tabindex: '-1' }, 'Forgotten: every app asks again.')
    element.replaceChildren(done)
    done.focus()
  }
  element.append(makeButton('link', 'Forget what I have allowed on this device', forget))
  return element
}

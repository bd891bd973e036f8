import { html } from 'lit-html'
import { makeButton, operate, type Panel, showInstant } from './panel.ts'

const states = ['published', 'active', 'retiring', 'retired'] as const
type State = (typeof states)[number]

/** A signing key, with the instant at which it reached each of its states. */
type Key = { kid: string; state: State } & Record<`${State}_at`, number | null>

/** The signing keys with their states, and the buttons that rotate and revoke them. */
export const keys: Panel = {
  title: 'Signing keys',
  path: () => 'keys',
  draw: ({ keys: list, next_due: due }: { keys: Key[]; next_due: number }) =>
    html`<p class="line">
        ${makeButton('Rotate', () => rotate('keys rotate'))}
        ${makeButton('Rotate at once', () => rotate('keys rotate --emergency'))}
        <span>The next step is due ${showInstant(due)}.</span>
      </p>
      ${list.toReversed().map(showKey)}`,
}

function showKey(key: Key) {
  const steps = states.map((state) => {
    const at = key[`${state}_at`]
    const name = state === key.state ? html`<strong>${state}</strong>` : state
    return html`<li class=${at === null ? '' : 'reached'}>
      ${name}<br />${at === null ? '–' : showInstant(at)}
    </li>`
  })
  const revoke = () => rotate(`keys revoke ${key.kid}`)
  return html`<p class="line">
      <code>${key.kid}</code>
      ${key.state === 'retired' ? '' : makeButton('Revoke', revoke, `Revoke ${key.kid}`)}
    </p>
    <ol aria-label="States of ${key.kid}">
      ${steps}
    </ol>`
}

async function rotate(command: string): Promise<string> {
  const { transitions } = await operate<{ transitions: { action: string }[] }>(command)
  return `Done: ${transitions.map(({ action }) => action).join(', ')}.`
}

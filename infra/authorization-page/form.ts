import { ApiFailure } from './api.ts'
import { icon, make } from './dom.ts'
import { explain } from './messages.ts'

/** A labelled input with a place for what is wrong with it. */
export interface Field {
  element: HTMLElement
  input: HTMLInputElement
  /** Says what is wrong and puts the focus there. */
  complain: (message: string) => void
  /** Takes a complaint back, then checks what was entered; false when there is a new one. */
  isGood: () => boolean
}

/** Makes a field; `check` returns what is wrong with a value, if anything is. */
export function makeField(options: {
  name: string
  label: string
  attributes: Record<string, string | boolean | undefined>
  check: (value: string) => string | undefined
  /** Put at the end of the input's own line. */
  addition?: HTMLElement
}): Field {
  const errorId = `${options.name}-error`
  const input = make('input', { id: options.name, name: options.name, ...options.attributes })
  const error = make('p', { id: errorId, class: 'field-error', 'aria-live': 'polite' })
  const describedBy = input.getAttribute('aria-describedby')
  const complain = (message: string) => {
    error.replaceChildren(icon('alert'), message)
    input.setAttribute('aria-invalid', 'true')
    input.setAttribute('aria-describedby', [errorId, describedBy].filter(Boolean).join(' '))
    input.focus()
    input.select()
  }
  const forgive = () => {
    error.replaceChildren()
    input.removeAttribute('aria-invalid')
    if (describedBy === null) input.removeAttribute('aria-describedby')
    else input.setAttribute('aria-describedby', describedBy)
  }
  return {
    element: make(
      'div',
      { class: 'field' },
      make('label', { for: options.name }, options.label),
      make('div', { class: 'input-line' }, input, options.addition),
      error,
    ),
    input,
    complain,
    isGood() {
      forgive()
      const problem = options.check(input.value)
      if (problem !== undefined) complain(problem)
      return problem === undefined
    },
  }
}

/** The place where failures that belong to no field are announced. */
export interface Alert {
  element: HTMLElement
  say: (message: string) => void
  clear: () => void
}

export function makeAlert(): Alert {
  const element = make('div', { role: 'alert', class: 'alert' })
  return {
    element,
    say: (message) => element.replaceChildren(icon('alert'), make('span', {}, message)),
    clear: () => element.replaceChildren(),
  }
}

/**
 * Returns a function that runs one piece of work at a time: a second click or Enter while one runs does nothing. An
 * `ApiFailure` goes to `onFailure`, which may return true to say that it has dealt with it, and else into the alert.
 */
export function makeGuard(alert: Alert, onFailure: (failure: ApiFailure) => boolean) {
  let busy = false
  return async (button: HTMLButtonElement, work: () => Promise<void>): Promise<void> => {
    if (busy) return
    busy = true
    alert.clear()
    button.setAttribute('aria-busy', 'true')
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error
      if (!onFailure(error)) alert.say(explain(error))
    } finally {
      busy = false
      button.removeAttribute('aria-busy')
    }
  }
}

/** Makes a form of fields and one button, which checks every field before it works. */
export function makeForm(options: {
  fields: Field[]
  submitLabel: string
  work: () => Promise<void>
  onFailure: (failure: ApiFailure) => boolean
}): HTMLFormElement {
  const alert = makeAlert()
  const guard = makeGuard(alert, options.onFailure)
  const button = make('button', { type: 'submit', class: 'primary' }, options.submitLabel)
  return make(
    'form',
    {
      novalidate: true,
      method: 'post',
      'aria-labelledby': 'heading',
      onsubmit(event) {
        event.preventDefault()
        // From the last to the first, so that the focus ends in the first field that needs it.
        const good = options.fields.toReversed().map((field) => field.isGood())
        if (good.every(Boolean)) void guard(button, options.work)
      },
    },
    ...options.fields.map(({ element }) => element),
    alert.element,
    button,
  )
}

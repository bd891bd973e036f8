import { ApiFailure } from './api.ts'
import { icon, make } from './dom.ts'
import { explain } from './messages.ts'

/** A labelled input with an error message. */
export interface Field {
  element: HTMLElement
  input: HTMLInputElement
  showError: (message: string) => void
  /** Shows an error if the value is invalid, and clears the old error. Returns whether the value is valid. */
  validate: () => boolean
}

/** Creates a labelled input. `check` returns an error message for an invalid value. */
export function makeField(options: {
  name: string
  label: string
  attributes: Record<string, string | boolean | undefined>
  check: (value: string) => string | undefined
  /** Element placed after the input on the same line, such as a button that shows the password. */
  addition?: HTMLElement
}): Field {
  const errorId = `${options.name}-error`
  const input = make('input', { id: options.name, name: options.name, ...options.attributes })
  const error = make('p', { id: errorId, class: 'field-error', 'aria-live': 'polite' })
  const describedBy = input.getAttribute('aria-describedby')
  const showError = (message: string) => {
    error.replaceChildren(icon('alert'), message)
    input.setAttribute('aria-invalid', 'true')
    input.setAttribute('aria-describedby', [errorId, describedBy].filter(Boolean).join(' '))
    input.focus()
    input.select()
  }
  const clearError = () => {
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
    showError,
    validate() {
      clearError()
      const message = options.check(input.value)
      if (message !== undefined) showError(message)
      return message === undefined
    },
  }
}

/** Creates an empty message area for failures that belong to no input; screen readers announce its text. */
export function makeAlert() {
  const element = make('div', { role: 'alert', class: 'alert' })
  return {
    element,
    say: (message: string) => element.replaceChildren(icon('alert'), make('span', {}, message)),
    clear: () => element.replaceChildren(),
  }
}

/**
 * Returns a function that runs an action, or does nothing while an earlier action runs. If the action throws
 * an ApiFailure, the alert shows the failure, unless `onFailure` returns true (handled).
 */
export function makeGuard(alert: ReturnType<typeof makeAlert>, onFailure: (failure: ApiFailure) => boolean) {
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

/** Creates a form with inputs and one button, which runs `work` if every input is valid. */
export function makeForm(options: {
  fields: Field[]
  /** What the form shows below its fields. */
  below?: HTMLElement | undefined
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
        // Validates the inputs in reverse order, so that the focus ends on the first invalid input.
        const valid = options.fields.toReversed().map((field) => field.validate())
        if (valid.every(Boolean)) void guard(button, options.work)
      },
    },
    ...options.fields.map(({ element }) => element),
    options.below,
    alert.element,
    button,
  )
}

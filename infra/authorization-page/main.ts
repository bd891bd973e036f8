import { readAuthorizationRequest } from './authorization-request.ts'
import { icon, make } from './dom.ts'
import type { Journey, StepName, View } from './step.ts'
import { showCode } from './steps/code.ts'
import { showConsent } from './steps/consent.ts'
import { showFinished, showNoRequest } from './steps/ending.ts'
import { showMethod } from './steps/method.ts'
import { showPassword } from './steps/password.ts'
import { keepState, readState } from './tab-state.ts'

const card = document.querySelector<HTMLElement>('#card')
if (card === null) throw new Error('the page has no card')

/** Puts a view into the card, names the page after it, and moves the focus there. */
function present(view: View): void {
  const heading = make('h1', { id: 'heading', tabindex: '-1' }, view.title)
  card?.replaceChildren(icon('mark', 'mark'), heading, ...view.content)
  document.title = view.title
  ;(view.focus ?? heading).focus()
}

const request = readAuthorizationRequest(location.search)
if (request === undefined) {
  present(showNoRequest(location.search !== ''))
} else {
  const journey: Journey = {
    request,
    state: readState(),
    remember(change) {
      const entries = Object.entries({ ...journey.state, ...change })
      journey.state = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
      keepState(journey.state)
    },
    go(step) {
      history.pushState({ step }, '')
      show(step)
    },
    replace(step, notice) {
      history.replaceState({ step }, '')
      show(step, notice)
    },
    present,
  }

  /** Shows a step if the tab still holds what it needs, and the first step otherwise. */
  const show = (step: StepName, notice?: string): void => {
    const { email, ticket, method, account, finished } = journey.state
    if (finished) present(showFinished(journey))
    else if (step === 'consent' && account && account.expire > Date.now())
      present(showConsent(journey, account))
    else if (step === 'method' && ticket) present(showMethod(journey, ticket))
    else if (step === 'code' && ticket && method && email !== undefined)
      present(showCode(journey, email, ticket, method))
    else present(showPassword(journey, notice))
  }

  const showCurrent = () => {
    journey.state = readState()
    show((history.state as { step: StepName } | null)?.step ?? 'password')
  }
  addEventListener('popstate', showCurrent)
  // A page that the browser kept alive comes back as it was left, busy or gone.
  addEventListener('pageshow', (event) => event.persisted && showCurrent())
  showCurrent()
}

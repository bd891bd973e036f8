import { ApiFailure } from './api.ts'
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
  type SentRequest,
} from './authorization-request.ts'
import { icon, make } from './dom.ts'
import { checkRequest } from './sign-in-api.ts'
import type { SignInFlow, StepName, View } from './step.ts'
import { showCode } from './steps/code.ts'
import { showConsent } from './steps/consent.ts'
import { invalidRequest, showFinished, showNoRequest, showRefused, showUnchecked } from './steps/ending.ts'
import { showMethod } from './steps/method.ts'
import { showPassword } from './steps/password.ts'
import { saveState, readState } from './tab-state.ts'

const card = document.querySelector<HTMLElement>('#card')
if (card === null) throw new Error('the page has no card')

/** Shows a view on the page: replaces the card's content, sets the document title, and moves the focus. */
function present(view: View): void {
  const heading = make('h1', { id: 'heading', tabindex: '-1' }, view.title)
  card?.replaceChildren(icon('mark', 'mark'), heading, ...view.content)
  document.title = view.title
  ;(view.focus ?? heading).focus()
}

/** Lets the service check the request before any part of it is shown, and then starts the sign-in. */
async function open(sent: SentRequest): Promise<void> {
  card?.replaceChildren(icon('mark', 'mark'), make('p', { class: 'lead', role: 'status' }, 'One moment …'))
  try {
    startFlow(await checkRequest(sent))
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    const retry = () => void open(sent)
    present(invalidRequest.includes(error.code) ? showRefused(error) : showUnchecked(error, retry))
  }
}

/** Shows the sign-in step of the current history entry, now and whenever the user goes back or forward. */
function startFlow(request: AuthorizationRequest): void {
  const flow: SignInFlow = {
    request,
    state: readState(),
    update(change) {
      const entries = Object.entries({ ...flow.state, ...change })
      flow.state = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
      saveState(flow.state)
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

  const show = (step: StepName, notice?: string): void => {
    const { email, ticket, method, account, finished } = flow.state
    if (finished) present(showFinished(flow))
    else if (step === 'consent' && account && account.expire > Date.now()) present(showConsent(flow, account))
    else if (step === 'method' && ticket) present(showMethod(flow, ticket))
    else if (step === 'code' && ticket && method && email !== undefined)
      present(showCode(flow, email, ticket, method))
    else present(showPassword(flow, notice))
  }

  const showCurrent = () => {
    flow.state = readState()
    show((history.state as { step: StepName } | null)?.step ?? 'password')
  }
  addEventListener('popstate', showCurrent)
  // The page may be outdated when the browser restores it, so this listener shows the current step again.
  addEventListener('pageshow', (event) => event.persisted && showCurrent())
  showCurrent()
}

const sent = readAuthorizationRequest(location.search)
if (sent === undefined) present(showNoRequest(location.search !== ''))
else void open(sent)

import { chooseAccount, needsNoClick, silentError } from './account.ts'
import { ApiFailure } from './api.ts'
import type { AuthorizationRequest, SentRequest } from './authorization-request.ts'
import { forgetSession, onSessionChange } from './device.ts'
import { present, presentWaiting } from './present.ts'
import { checkRequest, sendDecision, sessionEnded } from './sign-in-api.ts'
import type { SignInFlow, StepName } from './step.ts'
import { showCode } from './steps/code.ts'
import { passThrough, showConsent } from './steps/consent.ts'
import { invalidRequest, showFinished, showRefused, showUnchecked } from './steps/ending.ts'
import { showMethod } from './steps/method.ts'
import { showPassword } from './steps/password.ts'
import { readState, saveState } from './tab-state.ts'

/** Lets the service check the request before any part of it is shown, and then answers it. */
export async function openRequest(sent: SentRequest): Promise<void> {
  presentWaiting()
  try {
    const request = await checkRequest(sent)
    const { errorUrls } = request
    if (errorUrls === undefined) startFlow(request)
    else location.replace(await answerSilently(request, errorUrls))
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    const retry = () => void openRequest(sent)
    present(invalidRequest.includes(error.code) ? showRefused(error) : showUnchecked(error, retry))
  }
}

/** Answers a request with `prompt=none`. Resolves with the URL to open, which the service has made. */
async function answerSilently(
  request: AuthorizationRequest,
  errorUrls: NonNullable<AuthorizationRequest['errorUrls']>,
): Promise<string> {
  const account = chooseAccount(request, {})
  const error = silentError(request, account)
  if (account === undefined || error !== undefined) return errorUrls[error ?? 'login_required']
  try {
    return await sendDecision(account, request.parameters, true)
  } catch (failure) {
    if (!(failure instanceof ApiFailure) || !sessionEnded.includes(failure.code)) throw failure
    forgetSession()
    return errorUrls.login_required
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
    const { email, ticket, method, finished } = flow.state
    const account = step === 'consent' ? chooseAccount(request, flow.state) : undefined
    if (finished) present(showFinished(flow))
    else if (account && needsNoClick(request, account, flow.state)) {
      presentWaiting()
      void passThrough(flow, account)
    } else if (account) present(showConsent(flow, account))
    else if (step === 'method' && ticket) present(showMethod(flow, ticket))
    else if (step === 'code' && ticket && method && email !== undefined)
      present(showCode(flow, email, ticket, method))
    else present(showPassword(flow, notice))
  }

  const currentStep = () => (history.state as { step: StepName }).step
  const showCurrent = () => {
    flow.state = readState()
    show(currentStep())
  }
  addEventListener('popstate', showCurrent)
  // The page may be outdated when the browser restores it, so this listener shows the current step again.
  addEventListener('pageshow', (event) => event.persisted && showCurrent())
  // What other tabs do with the device's session concerns the one step that shows it.
  onSessionChange(() => {
    if (currentStep() === 'consent') showCurrent()
  })
  if (history.state === null) {
    // The browser was sent here anew, even if the request is one that the user has answered before.
    flow.update({ finished: undefined })
    const step: StepName = chooseAccount(request, flow.state) === undefined ? 'password' : 'consent'
    history.replaceState({ step }, '')
  }
  showCurrent()
}

import type { AuthorizationRequest } from './authorization-request.ts'
import type { TabState } from './tab-state.ts'

/** The steps of the sign-in on the authorization page. */
export type StepName = 'password' | 'method' | 'code' | 'consent' | 'finished'

/** What the page shows for a step: its title, its content and its focus. */
export interface View {
  title: string
  content: (Node | string)[]
  /** Element that receives the focus when the view is shown. Default: the heading. */
  focus?: HTMLElement
}

/** The sign-in in this browser tab: the request, its state, and how to move between steps. */
export interface SignInFlow {
  request: AuthorizationRequest
  state: TabState
  /** Merges a change into the tab's state; undefined removes a value. */
  update: (change: { [Name in keyof TabState]: TabState[Name] | undefined }) => void
  /** Goes to another step, with a new history entry: the back button returns to the current step. */
  go: (step: StepName) => void
  /** Replaces the current step with another one. The back button then skips the replaced step. */
  replace: (step: StepName, notice?: string) => void
  /** Shows a view that is not a step, such as an error. The tab's state stays the same. */
  present: (view: View) => void
}

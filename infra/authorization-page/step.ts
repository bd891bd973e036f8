import type { AuthorizationRequest } from './authorization-request.ts'
import type { TabState } from './tab-state.ts'

/** A step of the sign-in. */
export type StepName = 'password' | 'method' | 'code' | 'consent' | 'finished'

/** The content of a step. */
export interface View {
  title: string
  content: (Node | string)[]
  /** Element that receives the focus. Default: the heading. */
  focus?: HTMLElement
}

/** The sign-in in this tab: its request, its state and the way from step to step. */
export interface SignInFlow {
  request: AuthorizationRequest
  state: TabState
  /** Changes the tab's state; undefined removes a value. */
  update: (change: { [Name in keyof TabState]: TabState[Name] | undefined }) => void
  /** Opens a step; the back button returns to this one. */
  go: (step: StepName) => void
  /** Opens a step in place of this one, so that the back button skips a step that cannot be repeated. */
  replace: (step: StepName, notice?: string) => void
  /** Shows a view that is not a step. */
  present: (view: View) => void
}

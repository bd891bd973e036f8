import type { AuthorizationRequest } from './authorization-request.ts'
import type { TabState } from './tab-state.ts'

export type StepName = 'password' | 'method' | 'code' | 'consent' | 'finished'

/** What a step shows. */
export interface View {
  title: string
  content: (Node | string)[]
  /** Where the focus goes; the heading where nothing is named. */
  focus?: HTMLElement
}

/** What a step may do. */
export interface Journey {
  request: AuthorizationRequest
  state: TabState
  /** Changes what the tab remembers; undefined forgets. */
  remember: (change: { [Name in keyof TabState]: TabState[Name] | undefined }) => void
  /** Goes on to a step; back returns to this one. */
  go: (step: StepName) => void
  /** Puts a step in this one's place, so that back skips what cannot be done again. */
  replace: (step: StepName, notice?: string) => void
  /** Shows something that is no step of its own. */
  present: (view: View) => void
}

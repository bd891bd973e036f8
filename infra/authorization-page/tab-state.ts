import type { Account, Method, Ticket } from './sign-in-api.ts'

/**
 * The state of the sign-in that survives a reload. It is in the tab's session storage, which other tabs
 * cannot see and which ends with the tab. It never contains the password.
 */
export interface TabState {
  email?: string
  ticket?: Ticket
  method?: Method
  account?: Account
  /** Set when the user has allowed or denied the request. */
  finished?: true
}

const storageKey = 'sign-in'

/** The stored state, or an empty one if it belongs to another request than the one in the address. */
export function readState(): TabState {
  const stored = sessionStorage.getItem(storageKey)
  if (stored === null) return {}
  const { request, state } = JSON.parse(stored) as { request: string; state: TabState }
  return request === location.search ? state : {}
}

/** Stores the state of this request, and discards that of any other. */
export function saveState(state: TabState): void {
  sessionStorage.setItem(storageKey, JSON.stringify({ request: location.search, state }))
}

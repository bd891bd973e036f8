import type { Account, Method, Ticket } from './sign-in-api.ts'

/**
 * What a reload must not lose, for the authorization request in the address. It lives in the tab's session storage,
 * which no other tab sees and which ends with the tab; the password is never in it.
 */
export interface TabState {
  email?: string
  ticket?: Ticket
  method?: Method
  account?: Account
  /** The user has answered: there is nothing left to do for this request. */
  finished?: true
}

const storageKey = 'sign-in'

/** The state of the request in the address; empty for a request that this tab has not seen. */
export function readState(): TabState {
  const stored = sessionStorage.getItem(storageKey)
  if (stored === null) return {}
  const { request, state } = JSON.parse(stored) as { request: string; state: TabState }
  return request === location.search ? state : {}
}

/** Keeps the state in place of what was kept before, for whichever request that was. */
export function keepState(state: TabState): void {
  sessionStorage.setItem(storageKey, JSON.stringify({ request: location.search, state }))
}

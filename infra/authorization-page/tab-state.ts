import type { Account, Method, Ticket } from './sign-in-api.ts'

/**
 * The part of a sign-in's state that survives a reload; never the password. Kept in session storage, which
 * other tabs cannot read and which is deleted when the tab closes.
 */
export interface TabState {
  email?: string
  ticket?: Ticket
  method?: Method
  account?: Account
  /** Set after the user has allowed or denied the authorization request. */
  finished?: true
}

const storageKey = 'sign-in'

/** Reads the stored state; empty if the state belongs to another authorization request. */
export function readState(): TabState {
  const stored = sessionStorage.getItem(storageKey)
  if (stored === null) return {}
  const { request, state } = JSON.parse(stored) as { request: string; state: TabState }
  return request === location.search ? state : {}
}

/** Stores the state for the URL's authorization request, in place of any state that was stored before. */
export function saveState(state: TabState): void {
  sessionStorage.setItem(storageKey, JSON.stringify({ request: location.search, state }))
}

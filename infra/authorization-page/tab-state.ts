import type { Account, Method, Ticket } from './sign-in-api.ts'
import { readJson, tabStore } from './storage.ts'

/** The part of a sign-in's state that survives a reload; never the password. */
export interface TabState {
  email?: string
  ticket?: Ticket
  method?: Method
  /** The user who has signed in for this request. */
  account?: Account
  /** Set if the device keeps the session of `account`. If the device forgets it, so does this tab. */
  kept?: true
  /** Set after the user has allowed or denied the authorization request. */
  finished?: true
}

const storageKey = 'sign-in'

/** Reads the stored state; empty if the state belongs to another authorization request. */
export function readState(): TabState {
  const stored = readJson(tabStore, storageKey) as { request: string; state: TabState } | undefined
  return stored?.request === location.search ? stored.state : {}
}

/** Stores the state for the URL's authorization request, in place of any state that was stored before. */
export const saveState = (state: TabState): void =>
  tabStore.write(storageKey, JSON.stringify({ request: location.search, state }))

/** Deletes the state, whatever authorization request it belongs to. */
export const clearState = (): void => tabStore.remove(storageKey)

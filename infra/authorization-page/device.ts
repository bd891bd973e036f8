import type { Account } from './sign-in-api.ts'
import { deviceStore, readJson } from './storage.ts'

/** Names in the storage of the browser profile. */
const sessionName = 'session'
const stayName = 'stay-signed-in'
const allowedName = 'allowed'

/** Whether this browser keeps anything. If not, “Stay signed in on this device” is not offered. */
export const canKeep = deviceStore.isKept

/** Whether the user has chosen to stay signed in on this device; off until then. */
export const staysSignedIn = (): boolean => canKeep && deviceStore.read(stayName) === 'yes'

/** Remembers whether the user chose to stay signed in. */
export const rememberStay = (stay: boolean): void => deviceStore.write(stayName, stay ? 'yes' : 'no')

/** The session that this device keeps; undefined if there is none, or it has expired. */
export function readSession(): Account | undefined {
  const session = readJson(deviceStore, sessionName) as Account | undefined
  return session !== undefined && session.expire > Date.now() ? session : undefined
}

/** Keeps a session on this device, in place of any other. */
export const keepSession = (account: Account): void => deviceStore.write(sessionName, JSON.stringify(account))

/** Whether this device keeps the session of this account, and not another one by now. */
export const keeps = ({ accessToken }: Account): boolean => readSession()?.accessToken === accessToken

/** Forgets the session, which does not end it. */
export const forgetSession = (): void => deviceStore.remove(sessionName)

/** Calls `listener` when another tab changes the session of this device. */
export const onSessionChange = (listener: () => void): void =>
  // Without a key, the other tab has cleared everything.
  addEventListener('storage', ({ key }) => {
    if (key === sessionName || key === null) listener()
  })

/** What a user has allowed an app on this device. */
interface Allowed {
  userId: string
  clientId: string
  scopes: string[]
}

/** The device forgets the oldest entries beyond this number. */
const maxAllowed = 200

const readAllowed = (): Allowed[] => (readJson(deviceStore, allowedName) as Allowed[] | undefined) ?? []

const find = (userId: string, clientId: string): Allowed | undefined =>
  readAllowed().find((entry) => entry.userId === userId && entry.clientId === clientId)

/** Whether the user has allowed the app these scopes, or more, on this device. */
export const isAllowed = (userId: string, clientId: string, scopes: string[]): boolean => {
  const allowed = find(userId, clientId)?.scopes ?? []
  return scopes.every((scope) => allowed.includes(scope))
}

/** Remembers that the user has allowed the app these scopes, beside those allowed before. */
export function allow(userId: string, clientId: string, scopes: string[]): void {
  const before = find(userId, clientId)?.scopes ?? []
  const others = readAllowed().filter((entry) => entry.userId !== userId || entry.clientId !== clientId)
  const entry = { userId, clientId, scopes: [...new Set([...before, ...scopes])] }
  deviceStore.write(allowedName, JSON.stringify([...others, entry].slice(-maxAllowed)))
}

/** Whether this device remembers anything that was allowed, by whomever. */
export const hasAllowed = (): boolean => readAllowed().length > 0

/** Forgets everything that was allowed on this device, by whomever. */
export const forgetAllowed = (): void => deviceStore.remove(allowedName)

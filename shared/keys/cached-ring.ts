import { settings } from '../settings.ts'
import { readRing, type Ring } from './ring.ts'

/** The oldest that a signer's ring may ever be, whatever the publish window. */
const longestCacheMilliseconds = 60_000

/**
 * How long a signer may go on with a ring that it has read: half the publish window, at most 60 s. So every signer knows
 * a new key before that key may sign, and a rotation knows how long the old one may still be used (`ring-changes.ts`).
 */
export const signerCacheMilliseconds = (publishSeconds: number): number =>
  Math.min((publishSeconds * 1000) / 2, longestCacheMilliseconds)

/**
 * How long the key set may be answered from a ring that was read: half as long as signers, since its age adds to the
 * `max-age` under which clients keep the answer, and both must fit into the publish window.
 */
export const keySetCacheMilliseconds = (publishSeconds: number): number =>
  signerCacheMilliseconds(publishSeconds) / 2

let cached: { ring: Promise<Ring>; readAt: number } | undefined

/**
 * The ring, from memory if it was read within `maxAgeMilliseconds`. Age counts from the start of the read, by the wall clock, since a
 * frozen function's other clocks stand still. A ring without a signer is never kept: the first one may come any moment.
 */
export async function cachedRing(maxAgeMilliseconds: number): Promise<Ring> {
  const now = Date.now()
  if (cached === undefined || now < cached.readAt || now - cached.readAt >= maxAgeMilliseconds) {
    cached = { ring: readRing(), readAt: now }
  }
  const current = cached
  try {
    const ring = await current.ring
    if (ring.keys.some(({ state }) => state === 'active')) return ring
    forget(current)
    return ring
  } catch (error) {
    forget(current)
    throw error
  }
}

/** Makes the next call of cachedRing read again: what is in memory has shown itself to be out of date. */
export function forgetRing(): void {
  cached = undefined
}

function forget(entry: typeof cached): void {
  if (cached === entry) cached = undefined
}

/** The ring as a signer may use it. */
export const signersRing = (): Promise<Ring> =>
  cachedRing(signerCacheMilliseconds(settings().signingKeyPublishSeconds))

/** The ring as the key set may be answered from it. */
export const keySetRing = (): Promise<Ring> =>
  cachedRing(keySetCacheMilliseconds(settings().signingKeyPublishSeconds))

import { settings } from '../settings.ts'
import { readKeySet, type SigningKeySet } from './key-set.ts'

/** The oldest that a signer's ring may ever be, whatever the publish window. */
const longestCacheMilliseconds = 60_000

/**
 * How long a signer may go on with a ring that it has read: half the publish window, at most 60 s. So every signer knows
 * a new key before that key may sign, and a rotation knows how long the old one may still be used (`apply-change.ts`).
 */
export const signerCacheMilliseconds = (publishSeconds: number): number =>
  Math.min((publishSeconds * 1000) / 2, longestCacheMilliseconds)

let cached: { ring: Promise<SigningKeySet>; readAt: number } | undefined

/**
 * The ring as a signer may use it: from memory while it is young enough. Age counts from the start of the read, by the wall
 * clock, since a frozen function's other clocks stand still. A ring without a signer is never kept: the first one may come
 * any moment.
 */
export async function cachedKeySet(): Promise<SigningKeySet> {
  const longest = signerCacheMilliseconds(settings().signingKeyPublishSeconds)
  const now = Date.now()
  if (cached === undefined || now < cached.readAt || now - cached.readAt >= longest) {
    cached = { ring: readKeySet(), readAt: now }
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

/** Makes the next call of signersRing read again: what is in memory has shown itself to be out of date. */
export function forgetCachedKeySet(): void {
  cached = undefined
}

function forget(entry: typeof cached): void {
  if (cached === entry) cached = undefined
}

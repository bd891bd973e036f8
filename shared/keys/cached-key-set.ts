import { settings } from '../settings.ts'
import { activeKey, type SigningKeySet } from './key-set.ts'
import { readKeySet } from './key-set-store.ts'
import { signerCacheMilliseconds } from './key-times.ts'

interface CacheEntry {
  keySet: Promise<SigningKeySet>
  readAt: number
}

let cached: CacheEntry | undefined

/**
 * The key set for signing: from memory while it is younger than `signerCacheMilliseconds`. Its age counts from the start of
 * the read and by the wall clock, since the other clocks of a frozen function stand still. A key set without a signer is
 * not kept: the first signer may be there at the next call.
 */
export async function cachedKeySet(): Promise<SigningKeySet> {
  const maxAge = signerCacheMilliseconds(settings().signingKeyPublishSeconds)
  const now = Date.now()
  if (cached === undefined || now < cached.readAt || now - cached.readAt >= maxAge) {
    cached = { keySet: readKeySet(), readAt: now }
  }
  const entry = cached
  try {
    const keySet = await entry.keySet
    if (activeKey(keySet) === undefined) forget(entry)
    return keySet
  } catch (error) {
    forget(entry)
    throw error
  }
}

/** Makes the next call of cachedKeySet read again, because the cached one has turned out to be outdated. */
export function forgetCachedKeySet(): void {
  cached = undefined
}

function forget(entry: CacheEntry): void {
  if (cached === entry) cached = undefined
}

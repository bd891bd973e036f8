import { settings } from '../settings.ts'

/**
 * The `max-age`, in seconds, of the key set and the discovery document: as configured, but never over half the publish
 * window, so that every client has seen a key before it signs.
 */
export const documentMaxAgeSeconds = (): number =>
  Math.min(settings().jwksMaxAgeSeconds, Math.floor(settings().signingKeyPublishSeconds / 2))

/**
 * The Content-Security-Policy of the authorization page. `connectSource` is what its script may connect to:
 * the API's address, or `https:` where that address is not known when the header is written; the page's own
 * meta tag narrows it.
 */
export const pagePolicy = (connectSource: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src ${connectSource}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/** Headers for which CloudFront has no dedicated setting. */
export const customPageHeaders = {
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Headers of every file of the page, in addition to the Content-Security-Policy. */
export const pageHeaders = {
  ...customPageHeaders,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // The page's address contains the authorization request, which must not leak to other sites.
  'referrer-policy': 'no-referrer',
}

/** index.html is always revalidated, because it names the assets of the latest deployment. */
export const indexCacheControl = 'no-cache'
/** Assets have their content's hash in their names, so they never change and may be cached for ever. */
export const assetCacheControl = 'public, max-age=31536000, immutable'

/**
 * The Content-Security-Policy of the authorization page. `connect` is whom its script may talk to: the API's address, or,
 * where that is not known when the header is written, a wider source that the page's own policy narrows.
 */
export const pagePolicy = (connect: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/** Headers that CloudFront has no setting of its own for. */
export const customPageHeaders = {
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Headers of every file of the page, besides its policy. */
export const pageHeaders = {
  ...customPageHeaders,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // The address holds the app's request.
  'referrer-policy': 'no-referrer',
}

/** index.html names the assets, so it must be fresh; the assets are named by their content. */
export const indexCacheControl = 'no-cache'
export const assetCacheControl = 'public, max-age=31536000, immutable'

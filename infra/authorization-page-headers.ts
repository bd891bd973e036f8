/**
 * Builds the Content-Security-Policy of the authorization page. The page's script may connect only to
 * `connectSource`: the API's address or, if the address is not known yet, `https:` (any HTTPS origin). In the
 * second case, a meta tag in the page restricts the script to the API.
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

/** The page's custom security headers. CloudFront has its own settings for the other headers. */
export const customPageHeaders = {
  // Prevents a site that opens the page in a new window from accessing that window.
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** HTTP headers of every file of the authorization page, in addition to the Content-Security-Policy. */
export const pageHeaders = {
  ...customPageHeaders,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Sends no Referer header, because the page's URL contains the authorization request.
  'referrer-policy': 'no-referrer',
}

/** Cache-Control of index.html: always revalidated, because it names the assets of the latest deployment. */
export const indexCacheControl = 'no-cache'
/** Cache-Control of the page's assets: for ever, because their names contain hashes of their content. */
export const assetCacheControl = 'public, max-age=31536000, immutable'

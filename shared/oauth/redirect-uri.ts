import * as v from 'valibot'
import { loopbackWithoutPort } from './loopback.ts'

/** Characters of a URI without a fragment (RFC 3986 §2): nothing that a header or a page would have to escape. */
const characters = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]{1,2000}$/

/** Schemes of apps are reversed domain names, so that `javascript:` and the like are none (RFC 8252 §7.1). */
const privateUseScheme = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/

/**
 * An address that a client may register for answers: absolute, without fragment or credentials (OAuth 2.1 §2.3), and https,
 * or http on the user's own machine, or an app's own scheme.
 */
export const RedirectUri = v.pipe(
  v.string(),
  v.regex(characters, 'must be an absolute URI without a fragment'),
  v.check((uri) => {
    const url = URL.parse(uri)
    if (url === null || url.username !== '' || url.password !== '') return false
    return (
      url.protocol === 'https:' ||
      (url.protocol === 'http:' && loopbackWithoutPort(uri) !== undefined) ||
      privateUseScheme.test(url.protocol)
    )
  }, 'must be https, http on a loopback host, or a private-use scheme'),
)

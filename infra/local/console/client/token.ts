import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { ServerMetadata } from 'openid-client'
import { make } from '../../../authorization-page/dom.ts'
import { code, makeDetails, makePanel, preformatted, showInstant } from './elements.ts'
import type { Session } from './sign-in.ts'

/** Verifies the device_token with the JWKS, as any server would, and shows its parts. */
export function showToken(server: ServerMetadata, { deviceToken, claims }: Session): HTMLElement {
  const panel = makePanel('token', 'device_token')
  void panel.attempt(async () => {
    // jose's default timeout of five seconds is too short for a laptop that starts a dozen functions at once.
    const keys = createRemoteJWKSet(new URL(server.jwks_uri ?? ''), { timeoutDuration: 20_000 })
    const expected = { issuer: server.issuer, audience: String(claims.aud) }
    const { payload, protectedHeader } = await jwtVerify(deviceToken, keys, expected)
    const verified = `Signature, issuer, audience and expiry verified with jose against the public key set: ${protectedHeader.alg}, key `
    panel.body.replaceChildren(
      make('p', { class: 'good' }, verified, code(protectedHeader.kid ?? '')),
      make('p', {}, 'Good until ', showInstant((payload.exp ?? 0) * 1000)),
      make('h3', {}, 'Header'),
      preformatted(JSON.stringify(protectedHeader, null, 2)),
      make('h3', {}, 'Claims'),
      preformatted(JSON.stringify(payload, null, 2)),
      makeDetails('As it was sent', preformatted(deviceToken)),
    )
  })
  return panel.element
}

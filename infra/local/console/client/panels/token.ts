import type { AuthorizationServer } from 'oauth4webapi'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { make } from '../../../../authorization-page/dom.ts'
import type { Session } from '../sign-in.ts'
import { makePanel, showInstant } from '../view.ts'

/** The device_token, verified as any server would do it, and taken apart. */
export function showToken(server: AuthorizationServer, { deviceToken, claims }: Session): HTMLElement {
  const panel = makePanel('token', 'device_token')
  void panel.attempt(async () => {
    // A laptop that starts a dozen functions at once may take longer than jose's usual five seconds.
    const keys = createRemoteJWKSet(new URL(server.jwks_uri ?? ''), { timeoutDuration: 20_000 })
    const { payload, protectedHeader } = await jwtVerify(deviceToken, keys, {
      issuer: server.issuer,
      audience: String(claims.aud),
    })
    panel.body.replaceChildren(
      make(
        'p',
        { class: 'good' },
        `Signature, issuer, audience and expiry verified with jose against the public key set: ${protectedHeader.alg}, key `,
        make('code', {}, protectedHeader.kid ?? ''),
      ),
      make('p', {}, 'Good until ', showInstant((payload.exp ?? 0) * 1000)),
      make('h3', {}, 'Header'),
      make('pre', { class: 'wrap' }, JSON.stringify(protectedHeader, null, 2)),
      make('h3', {}, 'Claims'),
      make('pre', { class: 'wrap' }, JSON.stringify(payload, null, 2)),
      make('details', {}, make('summary', {}, 'As it was sent'), make('pre', { class: 'wrap' }, deviceToken)),
    )
  })
  return panel.element
}

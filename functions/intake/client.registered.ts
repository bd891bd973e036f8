import * as v from 'valibot'
import { countedInstant } from '../../shared/events/delivery.ts'
import { applyUnlessOvertaken } from '../../shared/events/event-record.ts'
import { BusinessKey, Instant, maybe, membersOf, ofCharacters, UnambiguousText } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { withMacDigest } from '../../shared/events/mac-digest.ts'
import { ClientSecret, macClientSecret } from '../../shared/oauth/client-authentication.ts'
import { Pkce, putClient } from '../../shared/oauth/client.ts'
import { RedirectUri } from '../../shared/oauth/redirect-uri.ts'
import { scopes } from '../../shared/tokens/scopes.ts'

/** Registers or replaces an OAuth client. A registration older than the stored one changes nothing. */
export const handler = intake({
  detailType: 'client.registered',
  detail: v.pipe(
    membersOf({
      client_id: BusinessKey,
      updated_at: Instant,
      name: v.pipe(UnambiguousText, v.trim(), ...ofCharacters(200)),
      redirect_uris: v.pipe(v.array(RedirectUri), v.maxLength(50)),
      // A client without a secret is public.
      secret: maybe(ClientSecret),
      scopes: v.array(v.picklist(scopes)),
      pkce: v.nullish(Pkce, 'required'),
      post_logout_redirect_uris: maybe(v.pipe(v.array(RedirectUri), v.maxLength(50))),
    }),
    v.forward(
      // Only its secret keeps a code that somebody else got hold of from being exchanged.
      v.check(
        ({ pkce, secret }) => pkce === 'required' || secret !== undefined,
        'must be required for a client without a secret',
      ),
      ['pkce'],
    ),
  ),
  key: ({ client_id, updated_at }) => `${client_id}#${updated_at}`,
  async apply(detail, record) {
    const { client_id: clientId, secret } = detail
    const [macRecord, secretMac] = await Promise.all([
      withMacDigest(record),
      secret === undefined ? undefined : macClientSecret(clientId, secret),
    ])
    const client = {
      clientId,
      name: detail.name,
      redirectUris: [...new Set(detail.redirect_uris)],
      scopes: [...new Set(detail.scopes)],
      secretMac,
      pkce: detail.pkce,
      postLogoutRedirectUris: detail.post_logout_redirect_uris && [
        ...new Set(detail.post_logout_redirect_uris),
      ],
      updatedAt: detail.updated_at,
    }
    return applyUnlessOvertaken(macRecord, [
      putClient(client, countedInstant(detail.updated_at, record.delivery)),
    ])
  },
})

import * as v from 'valibot'
import { ConditionFailed } from '../../shared/db/write.ts'
import { applyOnce } from '../../shared/events/event-record.ts'
import { BusinessKey, Instant, maybe } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { hashClientSecret } from '../../shared/oauth/client-authentication.ts'
import { putClient } from '../../shared/oauth/client.ts'
import { RedirectUri } from '../../shared/oauth/redirect-uri.ts'
import { scopes } from '../../shared/tokens/scopes.ts'

/**
 * Registers or replaces an OAuth client. A registration that is older than the stored one changes nothing.
 */
export const handler = intake({
  detailType: 'client.registered',
  detail: v.object({
    client_id: BusinessKey,
    updated_at: Instant,
    name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(200)),
    redirect_uris: v.pipe(v.array(RedirectUri), v.maxLength(50)),
    // A client secret is printable ASCII (RFC 6749 appendix A.2). A client without a secret is public.
    secret: maybe(v.pipe(v.string(), v.regex(/^[\x20-\x7e]{1,512}$/, 'must be printable characters'))),
    scopes: v.array(v.picklist(scopes)),
  }),
  key: ({ client_id, updated_at }) => `${client_id}#${updated_at}`,
  async apply(detail, record) {
    const client = {
      clientId: detail.client_id,
      name: detail.name,
      redirectUris: [...new Set(detail.redirect_uris)],
      scopes: [...new Set(detail.scopes)],
      secretHash: detail.secret === undefined ? undefined : hashClientSecret(detail.secret),
      updatedAt: detail.updated_at,
    }
    try {
      return await applyOnce(record, [putClient(client)])
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // A later registration of the client is already stored, so only the event is recorded.
      return applyOnce(record, [])
    }
  },
})

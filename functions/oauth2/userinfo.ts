import * as v from 'valibot'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { userClaims } from '../../shared/tokens/scopes.ts'
import { readUser } from '../../shared/users/user.ts'

/** Returns the claims about the user that the token's scopes allow (OpenID Connect Core §5.3). */
export const handler = signedInEndpoint({
  scope: 'openid',
  dialect: 'oauth',
  takesTokenInForm: true,
  input: v.object({}),
  output: v.object({
    sub: v.string(),
    email: v.optional(v.string()),
    email_verified: v.optional(v.literal(true)),
    name: v.optional(v.string()),
    nickname: v.optional(v.string()),
  }),
  prefetch: (_input, userId) => readUser(userId),
  async run({ caller, prefetched: user }) {
    return { sub: String(caller.userId), ...userClaims(user ?? {}, caller.scopes) }
  },
})

await warmUp(handler)

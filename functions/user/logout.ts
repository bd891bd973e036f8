import * as v from 'valibot'
import { Failure } from '../../shared/errors.ts'
import { Text } from '../../shared/fields.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { endSession } from '../../shared/tokens/session.ts'

/** Ends the caller's session: its access_token and every token derived from it stop working. */
export const handler = signedInEndpoint({
  scope: 'first-party',
  accepts: 'json',
  input: v.object({
    body: v.object({ id: Text(40) }),
  }),
  output: v.null(),
  async run({ input: { body }, caller: { userId, sessionId } }) {
    if (body.id !== String(userId)) throw new Failure('forbidden')
    await endSession(userId, sessionId)
    return null
  },
})

await warmUp(handler)

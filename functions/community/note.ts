import * as v from 'valibot'
import { Note, setNote } from '../../shared/community/note.ts'
import { readProfile } from '../../shared/community/profile.ts'
import { UserId } from '../../shared/fields.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'

/** Sets the caller's note on one of their direct referrals. An empty string clears the note. */
export const handler = signedInEndpoint({
  scope: 'community.write',
  accepts: 'json',
  input: v.object({ body: v.object({ target_user_id: UserId, note: Note }) }),
  output: v.null(),
  prefetch: ({ body }) => readProfile(body.target_user_id),
  async run({ input, caller, prefetched: target }) {
    await setNote(caller.userId, target, input.body.note)
    return null
  },
})

await warmUp(handler)

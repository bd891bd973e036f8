import * as v from 'valibot'
import { Member } from '../../shared/community/profile.ts'
import { exportMembers, MembersQuery, prefetchMembers } from '../../shared/community/search/find.ts'
import { answerExport, exportOf } from '../../shared/http/export.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'

const csv = { fileName: 'community-members.csv', columns: v.keyof(Member).options }

/** Exports the newest members of the caller's downline, or of the direct referrals only, as JSON or CSV. */
export const handler = signedInEndpoint({
  scope: 'community.read',
  input: v.object({ query: MembersQuery }),
  output: exportOf(Member),
  prefetch: ({ query }, userId) => prefetchMembers(query, userId),
  run: async ({ input, prefetched, request }) =>
    answerExport(await exportMembers(prefetched, input.query), request, csv),
})

await warmUp(handler)

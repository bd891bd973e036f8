import * as v from 'valibot'
import { membersCsv } from '../../shared/community/csv.ts'
import { Export, exportMembers, MembersQuery, prefetchMembers } from '../../shared/community/search/find.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { prefers } from '../../shared/http/prefers.ts'

/** Exports the newest members of the caller's downline, or of the direct referrals only, as JSON or CSV. */
export const handler = signedInEndpoint({
  scope: 'community.read',
  input: v.object({ query: MembersQuery }),
  output: Export,
  prefetch: ({ query }, userId) => prefetchMembers(query, userId),
  async run({ input, prefetched, request }) {
    const members = await exportMembers(prefetched, input.query)
    return prefers(request.header('accept'), 'text/csv') ? membersCsv(members.records) : members
  },
})

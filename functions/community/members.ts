import * as v from 'valibot'
import { Member } from '../../shared/community/profile.ts'
import { listMembers, MembersPageQuery, prefetchMembers } from '../../shared/community/search/find.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { pageOf } from '../../shared/page.ts'

/** Returns a page of the caller's direct referrals or of their whole downline, newest first. */
export const handler = signedInEndpoint({
  scope: 'community.read',
  input: v.object({ query: MembersPageQuery }),
  output: pageOf(Member),
  prefetch: ({ query }, userId) => prefetchMembers(query, userId),
  run: ({ input: { query }, prefetched }) => listMembers(prefetched, query, query),
})

await warmUp(handler)

import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { describeSignOut, SignOutDescription, SignOutParameters } from '../../shared/oauth/sign-out.ts'

/** Tells the sign-out page which client asks, and where the browser may go afterwards. */
export const handler = publicEndpoint({
  input: v.object({ query: SignOutParameters }),
  output: SignOutDescription,
  run: ({ input }) => describeSignOut(input.query),
})

import { readAuthorizationRequest } from './authorization-request.ts'
import { present } from './present.ts'
import { openRequest } from './sign-in.ts'
import { showNoRequest } from './steps/ending.ts'
import { openSignOut } from './steps/sign-out.ts'

/** The page is served under two addresses: `/` for sign-in, and `/sign-out`. */
if (location.pathname.endsWith('/sign-out')) void openSignOut()
else {
  const sent = readAuthorizationRequest(location.search)
  if (sent === undefined) present(showNoRequest(location.search !== ''))
  else void openRequest(sent)
}

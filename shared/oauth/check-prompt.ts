import type { AuthorizationParameters } from './authorization-parameters.ts'
import { faultOf } from './authorization-fault.ts'

/**
 * `prompt=none` asks for an answer without showing a page, which cannot be had: browsers have no session here, and every
 * code is consented to (OpenID Connect Core §3.1.2.1 and §3.1.2.6). Other prompts are the page's affair.
 */
export function checkPrompt({ prompt }: AuthorizationParameters): void {
  const prompts = prompt?.split(' ') ?? []
  if (!prompts.includes('none')) return
  if (prompts.length > 1) throw faultOf('prompt', 'must not hold none beside others')
  throw faultOf('prompt', 'none cannot be granted: the user has to sign in', 'login_required')
}

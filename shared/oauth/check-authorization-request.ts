import type { Client } from './client.ts'
import type { Scope } from '../tokens/scopes.ts'
import type { AuthorizationParameters } from './authorization-parameters.ts'
import { checkCodeChallenge } from './check-code-challenge.ts'
import { checkPrompt } from './check-prompt.ts'
import { checkRequestObject } from './check-request-object.ts'
import { checkResponseType } from './check-response-type.ts'
import { checkOpenIdScope } from './check-scope.ts'

/** What a client asks the user to consent to. */
export interface RequestedGrant {
  scopes: Scope[]
  codeChallenge: string
}

/**
 * Every check of an authorization request whose client and redirect URI are good, in the order in which faults are told;
 * throws the first as AuthorizationFault.
 */
export function checkAuthorizationRequest(
  parameters: AuthorizationParameters,
  client: Client,
): RequestedGrant {
  checkRequestObject(parameters)
  checkResponseType(parameters)
  const scopes = checkOpenIdScope(parameters.scope, client)
  const codeChallenge = checkCodeChallenge(parameters)
  checkPrompt(parameters)
  return { scopes, codeChallenge }
}

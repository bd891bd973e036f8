import { demoUsers } from '../../infra/local/demo/demo-users.ts'
import type { Operation } from '../support/described-answer.ts'
import type { FuzzedRequest } from './draft.ts'

/** What an access_token lets its holder do. */
export interface Grant {
  userId: number
  scopes: readonly string[]
  firstParty: boolean
  /** Epoch milliseconds. */
  expiresAt: number
}

/** Who is who in a run: whom each access_token stands for, and whose things these texts name. */
export interface Register {
  grants: ReadonlyMap<string, Grant>
  owners: ReadonlyMap<string, number>
}

/** The caller that a request's header Authorization names; undefined for nobody. */
export function callerOf({ headers }: FuzzedRequest, { grants }: Register): Grant | undefined {
  // Node's server reads the first of several such headers.
  const sent = headers.find(([name]) => name === 'authorization')?.[1].trim() ?? ''
  return grants.get(/^bearer +([^ ]+)$/i.exec(sent)?.[1] ?? '')
}

/** Why a caller must not succeed with an operation, by its security; undefined for one who may. */
export function whyNot({ security = [] }: Operation, caller: Grant | undefined): string | undefined {
  if (security.length === 0) return undefined
  if (caller === undefined || caller.expiresAt <= Date.now()) return 'nobody is signed in'
  const reaches = security.some(
    ({ firstParty, accessToken = [] }) =>
      (firstParty === undefined || caller.firstParty) &&
      accessToken.every((scope) => caller.scopes.includes(scope)),
  )
  return reaches ? undefined : 'the token has not the scope'
}

const membersOf = ({ body }: FuzzedRequest): Record<string, unknown> => {
  try {
    return JSON.parse(body?.toString() ?? '') as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Whose thing a request names that is answered only to its owner, by operation; undefined for nobody's. */
const namedOwners: Record<string, (request: FuzzedRequest, register: Register) => number | undefined> = {
  'GET /deposit/get/{id}': ({ target }, { owners }) =>
    owners.get(decodeURIComponent(target.split('?')[0]?.split('/').at(-1) ?? '')),
  'POST /user/logout': (request) => Number(membersOf(request)['id']),
  'POST /community/members/note': (request) =>
    demoUsers.find(({ user_id: id }) => id === Number(membersOf(request)['target_user_id']))?.referrer_id,
}

/** What of somebody else a success shows or changes; empty if nothing. */
export function findForeign(
  key: string,
  request: FuzzedRequest,
  { caller, body, register }: { caller: Grant | undefined; body: string; register: Register },
): string[] {
  const named = namedOwners[key]
  const shown = [...register.owners].filter(
    ([text, owner]) => owner !== caller?.userId && body.includes(text),
  )
  const bills = [...body.matchAll(/"id":"[AR](\d+)-\d+"/g)].map(([, owner]) => Number(owner))
  return [
    ...(named !== undefined && named(request, register) !== caller?.userId
      ? ['the request names what is not the caller’s, and succeeded']
      : []),
    ...(shown.length > 0 || bills.some((owner) => owner !== caller?.userId)
      ? ['the answer shows what is not the caller’s']
      : []),
  ]
}

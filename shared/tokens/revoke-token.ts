import * as v from 'valibot'
import { type Key } from '../db/table.ts'
import { Failure } from '../errors.ts'
import { claimedUserId, TokenItem, tokenKey } from './access-token.ts'
import { endSession } from './end-session.ts'
import { readItem } from '../db/read.ts'
import { writeItem } from '../db/write.ts'

/**
 * Makes an access_token of a client stop working, and, where it is the one of a sign-in, every token derived from it (RFC 7009 §2.1).
 * Text that is none of our tokens is no failure (§2.2); a token that was issued to another client is `invalid_grant` and stays.
 */
export async function revokeToken(token: string, clientId: string): Promise<void> {
  if (claimedUserId(token) !== undefined) await revokeTokenByKey(tokenKey(token), clientId)
}

/** The same for a token that is known by its item's key alone, as to the code that it was given for. */
export async function revokeTokenByKey(key: Key, clientId: string): Promise<void> {
  const item = await readItem(key, { consistent: true })
  if (item === undefined) return
  const token = v.parse(TokenItem, item)
  if (token.client_id !== clientId) throw new Failure('invalid_grant')
  if (token.first_party) await endSession(token.user_id, token.session_id)
  else await writeItem({ Delete: { Key: key } })
}

import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { Integer, type Key, ttlAfter } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { scopes } from '../tokens/scopes.ts'
import { readItem } from '../db/read.ts'

const StoredKey = v.object({ pk: v.string(), sk: v.string() })

/** An authorization code as the table holds it: under its hash, with all that it is bound to. Instants are epoch milliseconds. */
export const CodeItem = v.object({
  user_id: Integer,
  session_id: v.string(),
  /** Key of the first-party access_token by which the user consented. */
  session_key: StoredKey,
  session_expires_at: Integer,
  authenticated_at: Integer,
  client_id: v.string(),
  redirect_uri: v.string(),
  code_challenge: v.string(),
  nonce: v.optional(v.string()),
  scopes: v.array(v.picklist(scopes)),
  expires_at: Integer,
  /** Key of the access_token that the code was exchanged for; there as soon as it has been used. */
  given_key: v.optional(StoredKey),
})
export type CodeItem = v.InferOutput<typeof CodeItem>

/** A code of 256 random bits, of which only the hash is kept (RFC 6749 §10.10). */
const newCode = (): string => randomBytes(32).toString('base64url')

const codeKey = (code: string): Key => ({
  pk: `CODE#${createHash('sha256').update(code).digest('base64url')}`,
  sk: 'CODE',
})

/** A new code and the write that makes it work. */
export function issueCode(grant: Omit<CodeItem, 'given_key'>): { code: string; put: Write } {
  const code = newCode()
  const put: Write = {
    Put: {
      Item: { ...codeKey(code), ...grant, ttl: ttlAfter(grant.expires_at) },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  }
  return { code, put }
}

/** What a code was given for, used and expired ones included as long as they are remembered, or undefined. */
export async function readCode(code: string): Promise<CodeItem | undefined> {
  const item = await readItem(codeKey(code), { consistent: true })
  return item === undefined ? undefined : parseCode(item)
}

/** A code out of an item that came by other ways, such as with a failed condition. */
export const parseCode = (item: Record<string, unknown>): CodeItem => v.parse(CodeItem, item)

/**
 * The member of a transaction that uses a code up, once, for the token whose write stands beside it. The code is remembered with
 * that token's key until the token has expired, so that a replay can revoke it. Where the condition fails, the item comes back with it.
 */
export const consumeCode = (code: string, givenKey: Key, tokenExpiresAt: number): Write => ({
  Update: {
    Key: codeKey(code),
    UpdateExpression: 'SET given_key = :given, #ttl = :ttl',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(given_key) AND expires_at > :now',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':given': givenKey,
      ':ttl': ttlAfter(tokenExpiresAt),
      ':now': Date.now(),
    },
  },
})

import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, Key, ttlAfter } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import { scopes } from '../tokens/scopes.ts'
import { NamedSession } from '../tokens/session.ts'

/** An authorization code as stored, with everything it is bound to. Instants are epoch milliseconds. */
const CodeItem = v.object({
  ...NamedSession.entries,
  clientId: v.string(),
  redirectUri: v.string(),
  /** The PKCE challenge; undefined for a client that may leave it out, and did. */
  codeChallenge: v.optional(v.string()),
  nonce: v.optional(v.string()),
  scopes: v.array(v.picklist(scopes)),
  expiresAt: Integer,
  /** Key of the access_token that the code was exchanged for; present once the code is used. */
  givenKey: v.optional(Key),
})
export type AuthorizationCode = v.InferOutput<typeof CodeItem>

const codes = itemType({
  pk: 'CODE#{hash}',
  sk: 'CODE',
  holds:
    'an authorization code, by its SHA-256: what it is bound to, and the token that it was exchanged for',
  found: 'by code',
})

const codeKey = (code: string): Key =>
  codes.key({ hash: createHash('sha256').update(code).digest('base64url') })

/** Creates a random 256-bit code (RFC 6749 §10.10). `put` is the write that stores the code's hash. */
export function issueCode(grant: Omit<AuthorizationCode, 'givenKey'>): { code: string; put: Write } {
  const code = randomBytes(32).toString('base64url')
  return { code, put: putNew({ ...codeKey(code), ...grant, ttl: ttlAfter(grant.expiresAt) }) }
}

/** Reads a code with strong consistency, even a used or expired one. Undefined if there is no such code. */
export async function readCode(code: string): Promise<AuthorizationCode | undefined> {
  const item = await readItem(codeKey(code), { consistent: true })
  return item === undefined ? undefined : v.parse(CodeItem, item)
}

/**
 * The write that marks a code as used, in the transaction that stores its token. Fails if the code is used or
 * expired. The used code is kept until the token expires, so that a replay can revoke the token.
 */
export const consumeCode = (code: string, issuedTokenKey: Key, tokenExpiresAt: number): Write => ({
  Update: {
    Key: codeKey(code),
    UpdateExpression: 'SET givenKey = :given, #ttl = :ttl',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(givenKey) AND expiresAt > :now',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':given': issuedTokenKey,
      ':ttl': ttlAfter(tokenExpiresAt),
      ':now': Date.now(),
    },
  },
})

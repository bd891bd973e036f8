import { calculateJwkThumbprint } from 'jose'
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Key } from '../db/table.ts'
import { keysPartition } from './key-names.ts'
import { itemType } from '../db/item-type.ts'

/**
 * The states of a signing key, in order: `published` (in the JWKS, does not sign yet), `active` (the one
 * signer), `retiring` (in the JWKS until every token that it signed has expired), `retired` (out of the
 * JWKS).
 */
export const keyStates = ['published', 'active', 'retiring', 'retired'] as const
export type KeyState = (typeof keyStates)[number]

/** Reads an attribute that earlier versions of the service stored under another name. */
const renamed = (before: string, name: string) =>
  v.pipe(
    v.looseObject({}),
    v.transform((item) => (before in item ? { [name]: item[before], ...item } : item)),
  )

/** A signing key on record. Instants are epoch milliseconds, null until they are reached. */
export const SigningKey = v.pipe(
  renamed('afterlife_milliseconds', 'drain_ms'),
  v.object({
    /** RFC 7638 thumbprint of the public key. */
    kid: v.string(),
    /** The KMS key that holds the private half. */
    arn: v.string(),
    /** RSA modulus and exponent, base64url (RFC 7518 §6.3.1). */
    n: v.string(),
    e: v.string(),
    state: v.picklist(keyStates),
    published_at: Integer,
    active_at: v.nullable(Integer),
    retiring_at: v.nullable(Integer),
    retired_at: v.nullable(Integer),
    /** When a retiring key may leave the JWKS; null before it retires. */
    remove_after: v.nullable(Integer),
    /**
     * How long after the key stops signing the last token signed by it may still be valid: the longest age of
     * a signer's cached key set plus the longest life of an access_token, each at its maximum since the key
     * was published.
     */
    drain_ms: Integer,
  }),
)
export type SigningKey = v.InferOutput<typeof SigningKey>

/** A key that KMS has created, before it is part of the key set. */
export type CreatedKey = Pick<SigningKey, 'kid' | 'arn' | 'n' | 'e'>

/** What a transition was made for. */
export const Trigger = v.object({
  /** `clock` where it was due anyway, otherwise the call that asked for it. */
  kind: v.picklist(['clock', 'rotate', 'emergency', 'revoke']),
  /** Lambda's request id of the invocation that began it. */
  request_id: v.string(),
  /** Name that the caller gave. Unverified: CloudTrail records who really invoked. */
  requested_by: v.nullable(v.string()),
})
export type Trigger = v.InferOutput<typeof Trigger>

/**
 * One attempt to create a key. It is stored before CreateKey is called, and the KMS key carries its `id` as a
 * tag, so that after a crash the next run finds the key and goes on.
 */
export const Attempt = v.object({
  id: v.string(),
  started_at: Integer,
  /** The key is to be published, to sign at once, or to sign at once in place of a revoked one. */
  purpose: v.picklist(['publish', 'activate', 'replace']),
  /** kid of the key to revoke, for `replace`. */
  replaces: v.nullable(v.string()),
  trigger: Trigger,
})
export type Attempt = v.InferOutput<typeof Attempt>

/**
 * The signing key set. It is one item, so that it is consistent at any time. Signers and the JWKS read it,
 * and every write is conditional on `version`.
 */
export const SigningKeySet = v.pipe(
  renamed('strays', 'orphaned_attempts'),
  v.object({
    /** Counts the writes; 0 means that nothing is stored yet. */
    version: Integer,
    /** Number and hash of the last evidence record. */
    sequence: Integer,
    evidence_hash: v.nullable(v.string()),
    /** Every key that is not archived, oldest first. */
    keys: v.array(SigningKey),
    /** The attempt under way. */
    attempt: v.nullable(Attempt),
    /** Attempts that were given up. A KMS key of theirs may still turn up and is then disabled. */
    orphaned_attempts: v.array(v.object({ id: v.string(), started_at: Integer })),
  }),
)
export type SigningKeySet = v.InferOutput<typeof SigningKeySet>

/** The key set of a deployment that has no key yet. */
export const emptyKeySet: SigningKeySet = {
  version: 0,
  sequence: 0,
  evidence_hash: null,
  keys: [],
  attempt: null,
  orphaned_attempts: [],
}

/** Key of the one item of the key set. */
export const signingKeySetKey: Key = itemType({
  pk: keysPartition,
  sk: 'RING',
  holds: 'the key set: every signing key that is not archived, with its state, and the attempt under way',
  found: 'by its key; there is one',
}).key({})

/** The current key set, read consistently. */
export async function readKeySet(): Promise<SigningKeySet> {
  const item = await readItem(signingKeySetKey, { consistent: true })
  return item === undefined ? emptyKeySet : v.parse(SigningKeySet, item)
}

/** The first key in a state. */
export const keyIn = (keys: readonly SigningKey[], state: KeyState): SigningKey | undefined =>
  keys.find((key) => key.state === state)

/** The key that signs; undefined before a deployment's first key. */
export const activeKey = (keySet: SigningKeySet): SigningKey | undefined => keyIn(keySet.keys, 'active')

/** A public signing key (RFC 7517 §4, RFC 7518 §6.3.1). */
export const Jwk = v.object({
  kty: v.literal('RSA'),
  n: v.string(),
  e: v.string(),
  alg: v.literal('RS256'),
  use: v.literal('sig'),
  kid: v.string(),
})
export type Jwk = v.InferOutput<typeof Jwk>

/** The published JWK set (RFC 7517 §5). */
export const Jwks = v.object({ keys: v.array(Jwk) })
export type Jwks = v.InferOutput<typeof Jwks>

/** The JWKS: every key that signs, will sign, or has signed a token that may still be valid. */
export const toJwks = (keys: readonly SigningKey[]): Jwks => ({
  keys: keys.filter(({ state }) => state !== 'retired').map(toJwk),
})

/** The public half of a key. */
export const toJwk = ({ n, e, kid }: Pick<SigningKey, 'n' | 'e' | 'kid'>): Jwk => ({
  kty: 'RSA',
  n,
  e,
  alg: 'RS256',
  use: 'sig',
  kid,
})

/** SHA-256, hex, of the JWKS as canonical JSON: `{"keys":[…]}` with sorted members and nothing else. */
export const jwksDigest = (keys: readonly SigningKey[]): string =>
  createHash('sha256')
    .update(canonicalJson(toJwks(keys)))
    .digest('hex')

/** The `kid` of an RSA public key: its SHA-256 thumbprint, base64url (RFC 7638 §3). */
export const thumbprint = ({ n, e }: { n: string; e: string }): Promise<string> =>
  calculateJwkThumbprint({ kty: 'RSA', n, e })

import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { itemType } from '../db/item-type.ts'
import { queryItems, readItem, readItems } from '../db/read.ts'
import { Integer, type Key } from '../db/table.ts'
import { putNew, putVersioned, tryTransact, type Write } from '../db/write.ts'
import { keysPartition } from '../aws/signing-key-names.ts'

/**
 * The states of a signing key, in order: `published` (in the JWKS, not signing yet), `active` (the only
 * signer), `retiring` (in the JWKS until its tokens have expired), `retired` (out of the JWKS).
 */
export const keyStates = ['published', 'active', 'retiring', 'retired'] as const
export type KeyState = (typeof keyStates)[number]

/** A signing key in the key set. Instants are epoch milliseconds, null until they are reached. */
export const SigningKey = v.object({
  /** Key id: the RFC 7638 thumbprint of the public key. */
  kid: v.string(),
  /** ARN of the KMS key that holds the private key. */
  arn: v.string(),
  /** RSA modulus `n` and exponent `e`, base64url (RFC 7518 §6.3.1). */
  n: v.string(),
  e: v.string(),
  state: v.picklist(keyStates),
  published_at: Integer,
  active_at: v.nullable(Integer),
  retiring_at: v.nullable(Integer),
  retired_at: v.nullable(Integer),
  /** When the key may leave the JWKS, epoch milliseconds; null before it retires. */
  remove_after: v.nullable(Integer),
  /**
   * Drain time: how long a token can stay valid after its key has stopped signing. It is raised, but never
   * lowered, when settings change while the key signs.
   */
  drain_ms: Integer,
})
export type SigningKey = v.InferOutput<typeof SigningKey>

/** A key that KMS has created and that is not yet part of the key set. */
export type CreatedKey = Pick<SigningKey, 'kid' | 'arn' | 'n' | 'e'>

/** What caused a key transition or an attempt to create a key. */
export const Trigger = v.object({
  /** `clock` stands for the schedule. All others stand for requests. */
  kind: v.picklist(['clock', 'rotate', 'emergency', 'revoke']),
  /** Lambda request id of the invocation that began the transition or attempt. */
  request_id: v.string(),
  /** Name that the caller stated. Unverified: CloudTrail records who really invoked the function. */
  requested_by: v.nullable(v.string()),
})
export type Trigger = v.InferOutput<typeof Trigger>

/**
 * One attempt to create a signing key. Stored before KMS CreateKey is called, and completed with the ARN
 * afterwards. If a run crashes in between, the next run begins another attempt. The audit reports the key of
 * the crashed attempt, which never joins a JWKS.
 */
export const Attempt = v.object({
  id: v.string(),
  started_at: Integer,
  /** ARN of the KMS key that CreateKey made; null while no run has stored it. */
  arn: v.nullable(v.string()),
  /** Why the key is created. For example, `revoke` means: to replace a revoked key. */
  trigger: Trigger,
  /** kid of the key that a `revoke` replaces; null for other triggers. */
  replaces: v.nullable(v.string()),
})
export type Attempt = v.InferOutput<typeof Attempt>

/**
 * The signing key set. It is one item of the table, so that it is consistent at any time. Signers and the
 * JWKS read it, and every write is conditional on `version`.
 */
export const SigningKeySet = v.object({
  /** Version of the key set, raised by every write; 0 means that nothing is stored yet. */
  version: Integer,
  /** Number (`sequence`) and hash of the last evidence record. */
  sequence: Integer,
  evidence_hash: v.nullable(v.string()),
  /** Every signing key that is not archived, oldest first. */
  keys: v.array(SigningKey),
  /** The current attempt to create a key; null if there is none. */
  attempt: v.nullable(Attempt),
  /** Number of the last evidence record that was copied to the bucket, and the address of the bucket. */
  copies: v.optional(v.object({ address: v.string(), sequence: Integer })),
})
export type SigningKeySet = v.InferOutput<typeof SigningKeySet>

/** The key set of a deployment that has no key yet. */
export const emptyKeySet: SigningKeySet = {
  version: 0,
  sequence: 0,
  evidence_hash: null,
  keys: [],
  attempt: null,
}

/** Key of the item that holds the key set. */
export const signingKeySetKey: Key = itemType({
  pk: keysPartition,
  sk: 'RING',
  holds: 'the key set: every signing key that is not archived, with its state, and the attempt under way',
  found: 'by its key; there is one',
}).key({})

/** Reads the current key set, strongly consistent. */
export async function readKeySet(): Promise<SigningKeySet> {
  const item = await readItem(signingKeySetKey, { consistent: true })
  return item === undefined ? emptyKeySet : v.parse(SigningKeySet, item)
}

/**
 * Time limit for writing the key set, retries included. Must be below `commitSlackMilliseconds`, which also
 * covers the difference between clocks.
 */
const maxWriteMilliseconds = 2_000

/**
 * Replaces the key set in one transaction with other writes. If the stored key set has changed since it was
 * read, writes nothing and resolves with false.
 */
export async function writeKeySet(
  read: SigningKeySet,
  next: Omit<SigningKeySet, 'version'>,
  alongside: readonly Write[] = [],
): Promise<boolean> {
  const put = putVersioned({ ...next, version: read.version + 1, ...signingKeySetKey }, read.version)
  const abortSignal = AbortSignal.timeout(maxWriteMilliseconds)
  return (await tryTransact([put, ...alongside], { abortSignal })).length === 0
}

const archiveType = itemType({
  pk: keysPartition,
  sk: 'RETIRED#{kid}',
  holds: 'a retired key, after it has left the key set',
  found: 'by kid; all of them',
})

/** Prefix of the sort keys of all archived signing keys. */
export const archivePrefix = archiveType.sortKeyPrefix

/** The write that archives a signing key. */
export const putArchived = (key: SigningKey): Write =>
  putNew({ ...key, ...archiveType.key({ kid: key.kid }) })

/** Whether a signing key with this kid has been archived. */
export const isArchived = async (kid: string): Promise<boolean> =>
  (await readItem(archiveType.key({ kid }), { consistent: true })) !== undefined

/** Finds the signing key with this kid, whatever its state: in the key set, or archived. */
export async function readSigningKey(kid: string): Promise<SigningKey | undefined> {
  const [keySet, archived] = await readItems([signingKeySetKey, archiveType.key({ kid })])
  const { keys } = keySet === undefined ? emptyKeySet : v.parse(SigningKeySet, keySet)
  return keys.find((key) => key.kid === kid) ?? (archived && v.parse(SigningKey, archived))
}

/** Reads every archived signing key; about a dozen are added each year. */
export const readArchive = (): Promise<SigningKey[]> => readRecords(SigningKey, archivePrefix)

/** Reads items of the partition `KEYS`: those whose sort keys begin with a prefix, in sort key order. */
export async function readRecords<Schema extends v.GenericSchema>(
  schema: Schema,
  prefix: string,
): Promise<v.InferOutput<Schema>[]> {
  const items = queryItems({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': keysPartition, ':prefix': prefix },
    ConsistentRead: true,
  })
  const records: v.InferOutput<Schema>[] = []
  for await (const item of items) records.push(v.parse(schema, item))
  return records
}

/** Finds the first key in the given state. */
export const keyIn = (keys: readonly SigningKey[], state: KeyState): SigningKey | undefined =>
  keys.find((key) => key.state === state)

/** Finds the active key, which signs; undefined before a deployment's first key. */
export const activeKey = (keySet: SigningKeySet): SigningKey | undefined => keyIn(keySet.keys, 'active')

/** Schema of a public signing key as a JWK (RFC 7517 §4, RFC 7518 §6.3.1). */
export const Jwk = v.object({
  kty: v.literal('RSA'),
  n: v.string(),
  e: v.string(),
  alg: v.literal('RS256'),
  use: v.literal('sig'),
  kid: v.string(),
})
export type Jwk = v.InferOutput<typeof Jwk>

/** Schema of the JWKS, the published JWK set (RFC 7517 §5). */
export const Jwks = v.object({ keys: v.array(Jwk) })
export type Jwks = v.InferOutput<typeof Jwks>

/** Builds the JWKS: every key that signs, will sign, or has signed a token that may still be valid. */
export const toJwks = (keys: readonly SigningKey[]): Jwks => ({
  keys: keys.filter(({ state }) => state !== 'retired').map(toJwk),
})

/** The public part of a signing key as a JWK. */
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

/** Computes the `kid` of an RSA public key: its SHA-256 thumbprint, base64url (RFC 7638 §3). */
export const thumbprint = ({ n, e }: { n: string; e: string }): string =>
  createHash('sha256')
    .update(canonicalJson({ kty: 'RSA', n, e }))
    .digest('base64url')

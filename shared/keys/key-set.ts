import * as v from 'valibot'
import { Integer, type Key } from '../db/table.ts'
import { keysPartition } from './keys-partition.ts'
import { readItem } from '../db/read.ts'

/**
 * Life of a signing key: `published` (in the key set, not signing), `active` (the one signer), `retiring` (in the key set
 * until no token that it signed is alive), `retired` (out of the key set).
 */
export const keyStates = ['published', 'active', 'retiring', 'retired'] as const
export type KeyState = (typeof keyStates)[number]

/** A signing key as the ring knows it; instants are epoch milliseconds, null until they have come. */
export const SigningKey = v.object({
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
  /** When a retiring key may leave the key set; null before. */
  remove_after: v.nullable(Integer),
  /**
   * For how long after it stops signing a token of this key may live: the age of a signer's ring and the life of an
   * access_token, both as long as they ever were while it signed.
   */
  afterlife_milliseconds: Integer,
})
export type SigningKey = v.InferOutput<typeof SigningKey>

/** What a transition was made for. */
export const Trigger = v.object({
  /** `clock` where it was due, otherwise the call that asked for it. */
  kind: v.picklist(['clock', 'rotate', 'emergency', 'revoke']),
  /** Lambda's request id of the invocation that began it. */
  request_id: v.string(),
  /** Who asked, as they said themselves; CloudTrail knows who invoked. */
  requested_by: v.nullable(v.string()),
})
export type Trigger = v.InferOutput<typeof Trigger>

/**
 * One CreateKey that was begun, and what for. It is written before KMS is called, and the new KMS key carries `id` as a
 * tag: a run that dies leaves enough for the next one to find the key and finish.
 */
export const Attempt = v.object({
  id: v.string(),
  started_at: Integer,
  /** Whether the key is to be published, to sign at once, or to sign at once in place of a revoked one. */
  purpose: v.picklist(['publish', 'activate', 'replace']),
  /** kid of the key to revoke, under `replace`. */
  replaces: v.nullable(v.string()),
  trigger: Trigger,
})
export type Attempt = v.InferOutput<typeof Attempt>

/**
 * The key ring: one item, and so always one consistent state. It is the truth that signers and the key set read; every
 * change is a write conditional on `version`.
 */
export const SigningKeySet = v.object({
  /** Counts every write; 0 stands for a ring that does not exist yet. */
  version: Integer,
  /** Number of the last evidence record, and its hash. */
  sequence: Integer,
  evidence_hash: v.nullable(v.string()),
  /** Every key that is not archived yet, oldest first. */
  keys: v.array(SigningKey),
  /** The CreateKey under way. */
  attempt: v.nullable(Attempt),
  /** Attempts given up, whose KMS keys may still turn up and must then be disposed of. */
  strays: v.array(v.object({ id: v.string(), started_at: Integer })),
})
export type SigningKeySet = v.InferOutput<typeof SigningKeySet>

/** Key of the ring's one item. */
export const signingKeySetKey: Key = { pk: keysPartition, sk: 'RING' }

/** A ring before the first deployment's first key. */
export const emptyKeySet: SigningKeySet = {
  version: 0,
  sequence: 0,
  evidence_hash: null,
  keys: [],
  attempt: null,
  strays: [],
}

/** The ring as it stands now, read consistently. */
export async function readKeySet(): Promise<SigningKeySet> {
  const item = await readItem(signingKeySetKey, { consistent: true })
  return item === undefined ? emptyKeySet : v.parse(SigningKeySet, item)
}

/** The first key in a state. */
export const keyIn = (keys: readonly SigningKey[], state: KeyState): SigningKey | undefined =>
  keys.find((key) => key.state === state)

/** The one key that signs, if there is one yet. */
export const activeKey = (ring: SigningKeySet): SigningKey | undefined => keyIn(ring.keys, 'active')

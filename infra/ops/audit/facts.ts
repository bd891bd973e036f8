import type { Evidence } from '../../../shared/keys/evidence.ts'
import type { SigningKey, SigningKeySet } from '../../../shared/keys/set.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { Finding } from '../doctor/finding.ts'
import type { Target } from '../target.ts'
import type { readJwks } from './read-jwks.ts'
import type { readSchedule } from './read-schedule.ts'

/** The facts that the audit compares with each other. Each fact is read from its own source. */
export interface Facts {
  /** When the audit was made, epoch milliseconds. */
  at: number
  settings: Settings
  /** The stage and its `breakGlass` principals: the policy that a key should have depends on both. */
  owners: Pick<Target, 'stage' | 'breakGlass'>
  /** Value of the tag that the deployment's signing keys carry in KMS. */
  tag: string
  /** The key set in the table; undefined if it is missing or invalid. */
  keySet: SigningKeySet | undefined
  /** Every evidence record in the table, ordered by sort key. */
  evidence: EvidenceRow[]
  /** Names of the copies in the bucket with Object Lock; undefined without a bucket. */
  copies: string[] | undefined
  /** Archived signing keys, which have left the key set. */
  archive: SigningKey[]
  /** Sort keys of the invalid items in the partition of the signing keys. */
  unreadable: string[]
  kms: KmsKey[]
  /** The KMS key that signs evidence records. Its ARN is in the environment of the rotation function. */
  evidenceKey: KmsKey
  /** ARNs of all KMS keys that have the evidence key's tag. Only the evidence key may have this tag. */
  evidenceKeyArns: string[]
  /** The JWKS as published to clients, or the error of fetching it. */
  jwks: Awaited<ReturnType<typeof readJwks>>
  schedule: Awaited<ReturnType<typeof readSchedule>>
  /** Whether a CloudTrail trail logs the calls to KMS. */
  trail: Finding
  /** Last evidence record of an earlier report, which must still be in the chain. */
  anchor: Anchor | undefined
}

/** An evidence record as stored in the table. */
export interface EvidenceRow {
  sortKey: string
  /** The stored attributes that the hash and the signature cover, as canonical JSON. */
  content: string
  /** Hash computed from the content, regardless of the hash in the record. */
  hash: string
  /** The parsed record; undefined if the item is not a valid evidence record. */
  record: Evidence | undefined
}

/** A key in KMS: a signing key or the evidence key. */
export interface KmsKey {
  arn: string
  /**
   * State of the key in KMS; `Missing` if KMS has no such key, `Denied` if the caller may not read it,
   * `InOtherRegion` if only KMS in another region knows it.
   */
  state: string
  spec?: string | undefined
  usage?: string | undefined
  origin?: string | undefined
  createdAt?: number | undefined
  deletionAt?: number | undefined
  tags: Record<string, string>
  /** The key policy as JSON; undefined if KMS does not return it. */
  policy?: string | undefined
  /** The public key as PEM, and its RFC 7638 thumbprint; undefined if KMS does not return it. */
  publicKey?: string | undefined
  thumbprint?: string | undefined
}

/** The last evidence record that an earlier audit report names. */
export interface Anchor {
  sequence: number
  hash: string
}

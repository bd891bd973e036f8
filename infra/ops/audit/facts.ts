import type { Evidence } from '../../../shared/keys/evidence.ts'
import type { SigningKey, SigningKeySet } from '../../../shared/keys/key-set.ts'
import type { Settings } from '../../../shared/settings.ts'

/** Everything that the audit checks. Each part is read from its own source, so that they can be compared. */
export interface Facts {
  /** When the audit was made, epoch milliseconds. */
  at: number
  settings: Settings
  /** Value of the tag that the deployment's signing keys carry in KMS. */
  tag: string
  /** The key set in the table; undefined if it is missing or invalid. */
  keySet: SigningKeySet | undefined
  /** Every evidence record in the table, by sort key. */
  evidence: EvidenceRow[]
  /** Keys that have left the key set. */
  archive: SigningKey[]
  /**
   * RFC 7638 thumbprints of the public keys on record and in the JWKS, each by its object in `keySet`,
   * `archive` and `jwks`. An object that is no RSA key has none.
   */
  thumbprints: ReadonlyMap<object, string>
  /** Sort keys of invalid items in the keys' partition. */
  unreadable: string[]
  kms: KmsKey[]
  jwks: JwksFact
  schedule: ScheduleFact
  /** Last evidence record of an earlier report, which must still be in the chain. */
  anchor: Anchor | undefined
}

/** An evidence record as stored. */
export interface EvidenceRow {
  sortKey: string
  /** Hash of the stored content, whatever hash the record itself names. */
  hash: string
  /** Undefined if the item is not a valid evidence record. */
  record: Evidence | undefined
}

/** A key in KMS. */
export interface KmsKey {
  arn: string
  /** KMS's key state; `Missing` if KMS has no such key, `Denied` if the caller may not see it. */
  state: string
  spec: string | undefined
  usage: string | undefined
  origin: string | undefined
  createdAt: number | undefined
  deletionAt: number | undefined
  tags: Record<string, string>
  /** RFC 7638 thumbprint of the public key; undefined if KMS does not return one (some disabled keys). */
  thumbprint: string | undefined
}

/** The published JWKS, as every client sees it. */
export type JwksFact =
  | {
      answered: true
      keys: Record<string, unknown>[]
      maxAgeSeconds: number | undefined
      issuer: string | undefined
    }
  | { answered: false; problem: string }

/** The EventBridge rule that starts the rotation. */
export interface ScheduleFact {
  rule: string
  exists: boolean
  enabled: boolean
  expression: string | undefined
  /** ARNs of its targets. */
  targets: string[]
}

/** The last evidence record of an earlier report. */
export interface Anchor {
  sequence: number
  hash: string
}

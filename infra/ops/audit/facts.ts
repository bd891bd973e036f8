import type { Settings } from '../../../shared/settings.ts'
import type { Evidence } from '../../../shared/keys/evidence.ts'
import type { SigningKey, SigningKeySet } from '../../../shared/keys/key-set.ts'

/** Everything that the audit goes by, each part read from where it is kept, none from another. */
export interface Facts {
  /** The instant of the audit, epoch milliseconds. */
  at: number
  settings: Settings
  /** Value of the tag by which the deployment's signing keys are known. */
  tag: string
  /** The ring as the table holds it; undefined where there is none, or it cannot be read. */
  ring: SigningKeySet | undefined
  /** Every record of the chain, by its sort key. */
  evidence: EvidenceRow[]
  /** Keys that have left the ring. */
  archive: SigningKey[]
  /**
   * RFC 7638 thumbprints of the public keys on record and in the JWKS, each by its object in `ring`, `archive` and
   * `keySet`. An object that is no RSA key has none.
   */
  thumbprints: ReadonlyMap<object, string>
  /** Sort keys of items among the keys that are not what they should be. */
  unreadable: string[]
  kms: KmsKey[]
  keySet: KeySet
  schedule: ScheduleFact
  /** Head of the chain in an earlier report, which must still be part of it. */
  anchor: Anchor | undefined
}

/** A record of the chain as it stands in the table. */
export interface EvidenceRow {
  sortKey: string
  /** Hash of what the item holds, whatever it says of itself. */
  hash: string
  /** Undefined where the item is no evidence record any more. */
  record: Evidence | undefined
}

/** What KMS says of a key. */
export interface KmsKey {
  arn: string
  /** `Enabled`, `Disabled`, `PendingDeletion`, …; `Missing` where KMS knows none of this ARN, `Denied` where it does not say. */
  state: string
  spec: string | undefined
  usage: string | undefined
  origin: string | undefined
  createdAt: number | undefined
  deletionAt: number | undefined
  tags: Record<string, string>
  /** Thumbprint of the public key; undefined where KMS does not hand it out, as for some disabled keys. */
  thumbprint: string | undefined
}

/** The key set as anybody gets it over HTTP. */
export type KeySet =
  | {
      answered: true
      keys: Record<string, unknown>[]
      maxAgeSeconds: number | undefined
      issuer: string | undefined
    }
  | { answered: false; problem: string }

/** What EventBridge says of the rotation's rule. */
export interface ScheduleFact {
  rule: string
  exists: boolean
  enabled: boolean
  expression: string | undefined
  /** ARNs of what it calls. */
  targets: string[]
}

/** A place in the chain that was seen before. */
export interface Anchor {
  sequence: number
  hash: string
}

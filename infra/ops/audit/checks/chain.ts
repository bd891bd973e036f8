import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../../shared/canonical-json.ts'
import { jwksDigest } from '../../../../shared/keys/key-set.ts'
import { evidenceKey } from '../../../../shared/keys/key-set-store.ts'
import type { Check, Finding } from '../controls.ts'
import type { EvidenceRow, Facts } from '../facts.ts'

/** The evidence is whole: no record edited, removed or added, from the first one to the one that the ring names as its last. */
export const checkChain: Check = (facts) => [
  ...missing(facts),
  ...facts.evidence.flatMap((row) => edited(row)),
  ...facts.evidence.flatMap((row, index) => linked(row, facts.evidence[index - 1])),
  ...head(facts),
  ...anchored(facts),
]

const found = (finding: string, subject: string, message: string): Finding => ({
  finding,
  controls: ['evidence-integrity'],
  subject,
  message,
})

function missing({ ring, evidence, unreadable }: Facts): Finding[] {
  const spoilt = unreadable.map((sortKey) =>
    found('record_unreadable', sortKey, `The item ${sortKey} among the keys is not what it should be.`),
  )
  if (ring === undefined) {
    const nothing =
      evidence.length === 0
        ? 'There is no key ring: no key was ever made.'
        : 'There is evidence, but no key ring.'
    return [...spoilt, found('ring_missing', 'RING', nothing)]
  }
  const present = new Set(evidence.map(({ sortKey }) => sortKey))
  const gaps = Array.from({ length: ring.sequence }, (_, index) => index + 1).filter(
    (sequence) => !present.has(evidenceKey(sequence).sk),
  )
  const place = (sequence: number) =>
    sequence === 1 ? ', the oldest,' : sequence === ring.sequence ? ', the newest,' : ''
  const beyond = evidence.filter(({ sortKey }) => sortKey > evidenceKey(ring.sequence).sk)
  return [
    ...spoilt,
    ...gaps.map((sequence) =>
      found(
        'evidence_removed',
        `evidence ${sequence}`,
        `Record ${sequence}${place(sequence)} of ${ring.sequence} was removed.`,
      ),
    ),
    ...beyond.map(({ sortKey }) =>
      found(
        'evidence_added',
        sortKey,
        `The item ${sortKey} comes after the last record that the ring knows.`,
      ),
    ),
  ]
}

function edited({ sortKey, hash, record }: EvidenceRow): Finding[] {
  if (record === undefined) return []
  const name = `evidence ${record.sequence}`
  return [
    ...(record.hash === hash
      ? []
      : [
          found(
            'evidence_edited',
            name,
            `The content of record ${record.sequence} does not have the hash that it names.`,
          ),
        ]),
    ...(evidenceKey(record.sequence).sk === sortKey
      ? []
      : [found('evidence_edited', name, `The record stands under ${sortKey}, which is another's place.`)]),
  ]
}

/** The hash is the one that the content has, so that a record edited together with its own hash still breaks the link. */
function linked({ record, sortKey }: EvidenceRow, before: EvidenceRow | undefined): Finding[] {
  if (record === undefined) return []
  const name = `evidence ${record.sequence}`
  if (evidenceKey(1).sk === sortKey) {
    return record.previous_hash === null && record.jwks_sha256_before === jwksDigest([])
      ? []
      : [found('evidence_edited', name, 'The first record names one before it.')]
  }
  const predecessor = before?.sortKey === evidenceKey(record.sequence - 1).sk ? before : undefined
  if (predecessor === undefined) return []
  const broken =
    record.previous_hash !== predecessor.record?.hash
      ? 'holds another hash than that of the record before'
      : record.jwks_sha256_before !== predecessor.record.jwks_sha256_after
        ? 'begins with another key set than the record before left'
        : undefined
  return broken === undefined
    ? []
    : [found('chain_broken', name, `Record ${record.sequence} ${broken}: one of the two was edited.`)]
}

function head({ ring, evidence }: Facts): Finding[] {
  const last = evidence.at(-1)?.record
  if (ring === undefined || last?.sequence !== ring.sequence) return []
  const name = `evidence ${last.sequence}`
  return [
    ...(last.hash === ring.evidence_hash
      ? []
      : [
          found(
            'chain_broken',
            name,
            'The newest record is not the one that the ring was written with: one of the two was edited.',
          ),
        ]),
    ...(last.jwks_sha256_after === jwksDigest(ring.keys)
      ? []
      : [
          found(
            'keys_unaccounted',
            'RING',
            'The ring holds other public keys than its newest record says: the ring was edited.',
          ),
        ]),
  ]
}

function anchored({ anchor, evidence }: Facts): Finding[] {
  if (anchor === undefined) return []
  const row = evidence.find(({ sortKey }) => sortKey === evidenceKey(anchor.sequence).sk)
  return row?.hash === anchor.hash
    ? []
    : [
        found(
          'history_rewritten',
          `evidence ${anchor.sequence}`,
          `Record ${anchor.sequence} is not the one of the earlier report: the chain was written anew.`,
        ),
      ]
}

/** Digest, for comparison, of a key set that is not made from a ring. */
export const digestKeySet = (keys: unknown[]): string =>
  createHash('sha256').update(canonicalJson({ keys })).digest('hex')

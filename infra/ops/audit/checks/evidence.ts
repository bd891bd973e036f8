import { verify } from 'node:crypto'
import { copyName, evidenceKey, evidencePrefix, isSound } from '../../../../shared/keys/evidence.ts'
import { jwksDigest } from '../../../../shared/keys/set.ts'
import { otherRegion } from '../../../../shared/keys/kms.ts'
import { type Check, type Finding, found } from '../controls.ts'
import type { EvidenceRow, Facts } from '../facts.ts'
import { maxOverdueMilliseconds } from './rotation.ts'

/** Checks that no evidence record was edited, removed or added. The key set tells which record is last. */
export const checkEvidenceChain: Check = function* (facts) {
  yield* findMissing(facts)
  for (const row of facts.evidence) yield* findEdited(row, facts)
  for (const [index, row] of facts.evidence.entries()) yield* findBrokenLink(row, facts.evidence[index - 1])
  yield* checkLastRecord(facts)
  yield* checkAnchor(facts)
}

const sortKeyOf = (sequence: number): string => evidenceKey(sequence).sk

function* findMissing({ keySet, evidence, unreadable, kms }: Facts): Generator<Finding> {
  for (const sortKey of unreadable)
    yield found('evidence_edited', sortKey, `The item ${sortKey} in the keys’ partition is not valid.`)
  if (keySet === undefined) {
    const left = [evidence.length > 0 && 'evidence', kms.length > 0 && `${kms.length} keys in KMS`].filter(
      Boolean,
    )
    const why =
      left.length === 0
        ? 'the rotation has never created a key'
        : `it was deleted or edited, for there are ${left.join(' and ')}`
    yield found('ring_missing', 'RING', `There is no valid key set: ${why}.`)
    return
  }
  const last = keySet.sequence
  for (const { from, to } of findGaps(evidence, last)) {
    const position = from === 1 ? ', the oldest,' : from === last ? ', the newest,' : ''
    const message =
      from === to
        ? `Record ${from}${position} of ${last} was removed.`
        : `Records ${from} to ${to} of ${last} were removed, or the key set’s number was edited.`
    yield found('evidence_removed', `evidence ${from}`, message)
  }
  for (const { sortKey } of evidence)
    if (sortKey > sortKeyOf(last))
      yield found('evidence_edited', sortKey, `The item ${sortKey} comes after the key set’s last record.`)
}

/**
 * Finds the numbers up to `last` without a record, as spans: whoever edits the key set can make `last` so
 * large that a finding for each number would never end.
 */
function* findGaps(evidence: EvidenceRow[], last: number): Generator<{ from: number; to: number }> {
  const present = evidence.flatMap(({ sortKey }) => {
    const sequence = Number(sortKey.slice(evidencePrefix.length))
    return Number.isInteger(sequence) && sequence <= last && sortKeyOf(sequence) === sortKey ? [sequence] : []
  })
  let from = 1
  for (const next of [...present.sort((a, b) => a - b), last + 1]) {
    if (from < next) yield { from, to: next - 1 }
    from = next + 1
  }
}

/** Whether the evidence key signed this record. If KMS returns no public key, checks only the hash. */
export function isGenuine({ content, hash, record }: EvidenceRow, { evidenceKey }: Facts): boolean {
  const { publicKey } = evidenceKey
  const signature = Buffer.from(record?.signature ?? '', 'base64url')
  const isSigned = publicKey === undefined || verify('sha256', Buffer.from(content), publicKey, signature)
  return record?.hash === hash && isSigned
}

function* findEdited(row: EvidenceRow, facts: Facts): Generator<Finding> {
  const { sortKey, record } = row
  if (record === undefined) return
  const { sequence } = record
  const subject = `evidence ${sequence}`
  if (!isGenuine(row, facts))
    yield found('evidence_edited', subject, `Record ${sequence} is not what the evidence key has signed.`)
  if (sortKeyOf(sequence) !== sortKey)
    yield found('evidence_edited', subject, `The record is stored under ${sortKey}, the key of another one.`)
}

/** Checks that a record contains the hash of the previous record. */
function* findBrokenLink({ record }: EvidenceRow, before: EvidenceRow | undefined): Generator<Finding> {
  if (record === undefined) return
  const { sequence, previous_hash: previousHash } = record
  const message = `Record ${sequence} does not contain the hash of the record before: one of the two was exchanged.`
  if (before?.sortKey === sortKeyOf(sequence - 1) && previousHash !== before.record?.hash)
    yield found('evidence_edited', `evidence ${sequence}`, message)
}

function* checkLastRecord({ keySet, evidence }: Facts): Generator<Finding> {
  const last = evidence.at(-1)?.record
  if (keySet === undefined || last?.sequence !== keySet.sequence) return
  if (last.hash !== keySet.evidence_hash)
    yield found(
      'evidence_edited',
      `evidence ${last.sequence}`,
      'The newest record is not the one that the key set names: one of the two was edited.',
    )
  const edited =
    'The public keys of the key set differ from those in its newest record: the key set was edited.'
  if (last.jwks_sha256_after !== jwksDigest(keySet.keys)) yield found('state_unaccounted', 'RING', edited)
}

function* checkAnchor({ anchor, evidence }: Facts): Generator<Finding> {
  if (anchor === undefined) return
  const row = evidence.find(({ sortKey }) => sortKey === sortKeyOf(anchor.sequence))
  const message = `Record ${anchor.sequence} differs from the earlier report: the chain was rewritten.`
  if (row?.hash !== anchor.hash) yield found('history_rewritten', `evidence ${anchor.sequence}`, message)
}

/** Finds records without a copy, and copies whose record was removed or now has another hash. */
export const checkCopies: Check = function* ({ at, copies, evidence }) {
  if (copies === undefined) return
  const records = new Map(evidence.flatMap(({ record }) => (record ? [[copyName(record), record]] : [])))
  for (const copy of copies.filter((name) => !records.has(name)))
    yield found('history_rewritten', copy, 'The chain lacks the record of this copy: it was rewritten.')
  for (const [name, record] of records)
    if (!copies.includes(name) && at - record.at > maxOverdueMilliseconds)
      yield found('evidence_uncopied', name, 'The bucket with Object Lock has no copy of this record.')
}

/** States in which a KMS key makes no signatures in this region. Each region's audit checks its own keys. */
const cannotSign = ['Disabled', 'PendingDeletion', 'Deleted', otherRegion]

/**
 * Checks the proof in each evidence record. If a record names a new key, the key's test signature must have
 * been verified. If it archives a retired key, that key must have been unable to sign in KMS.
 */
export const checkProofs: Check = function* ({ evidence }) {
  for (const { record } of evidence) {
    if (record === undefined) continue
    const subject = `evidence ${record.sequence}`
    if (record.check !== null && record.new_kid !== null && !isSound(record.check)) {
      const message = 'A key was taken into use although its test signature was not verified.'
      yield found('key_taken_unproven', subject, message)
    } else if (record.action === 'disable' && !cannotSign.includes(record.kms_state ?? '')) {
      const message = `A retired key was archived while its state in KMS was ${record.kms_state ?? 'not recorded'}.`
      yield found('disposal_unproven', subject, message)
    }
  }
}

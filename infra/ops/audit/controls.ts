import type { Facts } from './facts.ts'

/** The controls that the audit checks, and what each of them requires. */
export const controls = {
  'nist-cryptoperiod': {
    title: 'NIST SP 800-57 Part 1 Rev. 5, 5.3: cryptoperiods',
    asks: 'No key signs for longer than its configured period, which is at most three years. Keys are strong enough (5.6).',
  },
  'pci-3.6.1': {
    title: 'PCI DSS v4.0, 3.6.1: keys are protected against misuse',
    asks: 'Only roles of the service sign, and only the rotation and the break-glass principals disable, delete or share a key.',
  },
  'pci-3.7.4': {
    title: 'PCI DSS v4.0, 3.7.4: changes at the end of the cryptoperiod',
    asks: 'An automatic process replaces every key at the end of its period.',
  },
  'pci-3.7.5': {
    title: 'PCI DSS v4.0, 3.7.5: retirement, replacement and destruction',
    asks: 'Retired and distrusted keys are no longer used, and are kept only in a state in which they cannot sign.',
  },
  'cis-key-monitoring': {
    title: 'CIS AWS Foundations Benchmark v3.0, 4.7: disabled keys and scheduled deletions are noticed',
    asks: 'The evidence of the rotation explains every CreateKey, DisableKey and ScheduleKeyDeletion of a signing key, and CloudTrail logs them.',
  },
  'securityhub-kms.3': {
    title: 'AWS Security Hub, KMS.3: keys are not deleted unintentionally',
    asks: 'No signing key waits for deletion, unless the deployment is configured to delete retired keys.',
  },
  'evidence-integrity': {
    title: 'PCI DSS v4.0, 10.3.4: change detection on audit records',
    asks: 'The evidence chain is complete: each record contains the hash of the one before and is signed by the evidence key, which is enabled in KMS, was made there, is the only key with its tag and has the policy of the template. The records explain the state of every key in KMS. Only an earlier report (--previous) or the copies of auditTrail show a chain that whoever can sign with the evidence key rewrote.',
  },
  'published-keys': {
    title: 'OpenID Connect Core 1.0, 10.1.1: rotation of signing keys',
    asks: 'The JWKS contains the signing key and every key whose tokens may still be valid, and no other key.',
  },
} as const

/** Name of a control, which is a requirement that the audit checks. */
export type Control = keyof typeof controls

/**
 * The controls that each kind of finding violates, keyed by the kind's code. Two findings are of two kinds
 * only if an auditor would act differently on them. The message says what exactly was found.
 */
const violated = {
  cached_too_long: ['published-keys'],
  calls_unlogged: ['cis-key-monitoring'],
  cryptoperiod_exceeded: ['nist-cryptoperiod', 'pci-3.7.4'],
  deletion_scheduled: ['securityhub-kms.3', 'cis-key-monitoring'],
  disabled_behind_the_service: ['cis-key-monitoring', 'pci-3.7.4'],
  disposal_unproven: ['pci-3.7.5'],
  evidence_key_changed: ['evidence-integrity', 'pci-3.6.1'],
  evidence_edited: ['evidence-integrity'],
  evidence_uncopied: ['evidence-integrity'],
  evidence_unverified: ['evidence-integrity'],
  evidence_removed: ['evidence-integrity'],
  foreign_key: ['published-keys'],
  history_rewritten: ['evidence-integrity'],
  key_hidden: ['evidence-integrity'],
  key_in_other_region: ['pci-3.7.5'],
  key_not_published: ['published-keys'],
  key_set_unavailable: ['published-keys'],
  key_taken_unproven: ['pci-3.7.4'],
  no_signer: ['pci-3.7.4'],
  not_the_key_on_record: ['nist-cryptoperiod'],
  policy_changed: ['pci-3.6.1'],
  retired_but_enabled: ['pci-3.7.5'],
  retirement_overdue: ['pci-3.7.5'],
  ring_missing: ['evidence-integrity'],
  rotation_overdue: ['nist-cryptoperiod', 'pci-3.7.4'],
  schedule_changed: ['pci-3.7.4'],
  schedule_disabled: ['pci-3.7.4'],
  state_unaccounted: ['evidence-integrity', 'pci-3.7.4'],
  unknown_key: ['published-keys', 'pci-3.7.5', 'cis-key-monitoring', 'evidence-integrity'],
  wrong_kid: ['published-keys'],
} as const satisfies Record<string, readonly Control[]>

/** A finding of the audit: a violation of one or more controls. */
export interface Finding {
  finding: keyof typeof violated
  controls: readonly Control[]
  /** What the finding is about: a kid, a KMS key's ARN, an evidence record or the schedule's rule. */
  subject: string
  /** What is wrong, in a sentence for the reader of the report. */
  message: string
}

/** Creates a finding of the audit. */
export const found = (finding: Finding['finding'], subject: string, message: string): Finding => ({
  finding,
  controls: violated[finding],
  subject,
  message,
})

/** A check of the audit: yields the findings about one part of the facts. */
export type Check = (facts: Facts) => Iterable<Finding>

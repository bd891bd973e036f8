import type { Facts } from './facts.ts'

/** The controls that the audit checks, and what each of them requires. */
export const controls = {
  'nist-cryptoperiod': {
    title: 'NIST SP 800-57 Part 1 Rev. 5, 5.3: cryptoperiods',
    asks: 'No key signs for longer than its configured period, or for longer than three years. Keys are strong enough (5.6).',
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
    asks: 'The evidence of the rotation explains every DisableKey and ScheduleKeyDeletion of a signing key.',
  },
  'securityhub-kms.3': {
    title: 'AWS Security Hub, KMS.3: keys are not deleted unintentionally',
    asks: 'No signing key waits for deletion, unless the deployment is configured to delete retired keys.',
  },
  'evidence-integrity': {
    title: 'PCI DSS v4.0, 10.3.4: audit records cannot change unnoticed',
    asks: 'The evidence chain is complete: each record contains the hash of the one before, and together they explain the state of every key.',
  },
  'published-keys': {
    title: 'OpenID Connect Core 1.0, 10.1.1: rotation of signing keys',
    asks: 'The JWKS contains the signing key and every key whose tokens may still be valid, and no other key.',
  },
} as const

/** Name of a control of the audit. */
export type Control = keyof typeof controls

/** A finding of the audit: a violation of one or more controls. */
export interface Finding {
  /** Code of the kind of finding, which never changes. */
  finding: string
  controls: Control[]
  /** What the finding is about: a kid, a KMS key's ARN, an evidence record or the schedule's rule. */
  subject: string
  /** What is wrong, in a sentence for the reader of the report. */
  message: string
}

/** Creates a finding of the audit. */
export const found = (finding: string, violated: Control[], subject: string, message: string): Finding => ({
  finding,
  controls: violated,
  subject,
  message,
})

/** A check of the audit: yields the findings about one part of the facts. */
export type Check = (facts: Facts) => Iterable<Finding>

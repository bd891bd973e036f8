import type { Facts } from './facts.ts'

/** What the audit checks against: the controls by which signing keys are judged, and what each asks for. */
export const controls = {
  'nist-cryptoperiod': {
    title: 'NIST SP 800-57 Part 1 Rev. 5, 5.3: cryptoperiods',
    asks: 'A private signature key is used no longer than its period, and one to three years at most; keys are strong enough (5.6).',
  },
  'pci-3.7.4': {
    title: 'PCI DSS v4.0, 3.7.4: changes at the end of the cryptoperiod',
    asks: 'Keys that have reached the end of their period are replaced by a process that runs by itself.',
  },
  'pci-3.7.5': {
    title: 'PCI DSS v4.0, 3.7.5: retirement, replacement and destruction',
    asks: 'Keys that are retired, or no longer trusted, stop being used, and are kept only where they cannot sign.',
  },
  'cis-key-monitoring': {
    title: 'CIS AWS Foundations Benchmark v3.0, 4.7: disabled keys and scheduled deletions are noticed',
    asks: 'Every DisableKey and ScheduleKeyDeletion of a signing key is one that the rotation has on record.',
  },
  'securityhub-kms.3': {
    title: 'AWS Security Hub, KMS.3: keys are not deleted unintentionally',
    asks: 'No signing key waits for deletion, unless the deployment deletes retired keys by configuration.',
  },
  'evidence-integrity': {
    title: 'PCI DSS v4.0, 10.3.4: audit records cannot change unnoticed',
    asks: 'The chain of evidence is whole: each record holds the hash of the one before, and together they account for the keys.',
  },
  'published-keys': {
    title: 'OpenID Connect Core 1.0, 10.1.1: rotation of signing keys',
    asks: 'The public key set holds the signer and every key whose tokens may be alive, and no other key.',
  },
} as const

/** Name of a control. */
export type Control = keyof typeof controls

/** Something that does not hold. */
export interface Finding {
  /** Stable name of what was found. */
  finding: string
  controls: Control[]
  /** What it is about: a kid, a KMS key, a record of the evidence, the rule. */
  subject: string
  /** What is wrong, for a person. */
  message: string
}

/** One thing that is checked. */
export type Check = (facts: Facts) => Finding[]

import type { SigningKey } from '../../../../shared/keys/key-set.ts'
import { nextDue } from '../../../../shared/keys/key-times.ts'
import { formatInstant, formatSpan } from '../../terminal.ts'
import type { Check, Control, Finding } from '../controls.ts'
import type { Facts } from '../facts.ts'

const hour = 3_600_000
const day = 24 * hour

/** How late a step may be before it counts: the alarm's own measure, many runs of the clock. */
const patience = hour

/** Longest period in which a private signature key may sign (NIST SP 800-57 Part 1 Rev. 5, 5.3.6, table 1: one to three years). */
const longestPeriodDays = 3 * 365

/** Keys are changed in time: nothing is overdue, no key signs longer than its period or stays public for longer than its tokens. */
export const checkCryptoperiod: Check = (facts) => [
  ...period(facts),
  ...overdue(facts),
  ...(facts.ring?.keys ?? []).flatMap((key) => [...overAge(key, facts), ...overstay(key, facts)]),
]

const finding = (name: string, controls: Control[], subject: string, message: string): Finding => ({
  finding: name,
  controls,
  subject,
  message,
})

const period = ({ settings }: Facts): Finding[] =>
  settings.signingKeyRotationDays <= longestPeriodDays
    ? []
    : [
        finding(
          'period_too_long',
          ['nist-cryptoperiod'],
          'configuration',
          `Keys are configured to sign for ${settings.signingKeyRotationDays} days.`,
        ),
      ]

function overdue({ at, ring, settings }: Facts): Finding[] {
  if (ring === undefined || ring.keys.length === 0) return []
  const due = nextDue(ring, settings)
  if (at - due <= patience) return []
  return [
    finding(
      'rotation_overdue',
      ['nist-cryptoperiod', 'pci-3.7.4'],
      'rotation',
      `A step of the rotation was due at ${formatInstant(due)} and is overdue by ${formatSpan(at - due)}.`,
    ),
  ]
}

function overAge({ kid, state, active_at: since }: SigningKey, { at, settings }: Facts): Finding[] {
  if (state !== 'active' || since === null) return []
  // The successor is published so early that it can take over in time; a period that was shortened lately needs the whole way.
  const longest = settings.signingKeyRotationDays * day + settings.signingKeyPublishSeconds * 1000 + patience
  return at - since <= longest
    ? []
    : [
        finding(
          'cryptoperiod_exceeded',
          ['nist-cryptoperiod', 'pci-3.7.4'],
          kid,
          `The key has signed for ${formatSpan(at - since)}; its period is ${formatSpan(settings.signingKeyRotationDays * day)}.`,
        ),
      ]
}

function overstay({ kid, state, remove_after: until }: SigningKey, { at }: Facts): Finding[] {
  if (state !== 'retiring' || until === null || at - until <= patience) return []
  return [
    finding(
      'retirement_overdue',
      ['pci-3.7.5'],
      kid,
      `The key should have left the key set at ${formatInstant(until)}.`,
    ),
  ]
}

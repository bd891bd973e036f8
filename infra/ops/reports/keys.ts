import type { Evidence } from '../../../shared/keys/evidence.ts'
import type { SigningKey } from '../../../shared/keys/set.ts'
import { formatDuration, formatInstant } from '../format.ts'
import { isOverdue, type readKeyStatus } from '../keys/key-status.ts'
import type { Report, Section } from '../report.ts'

type Status = Awaited<ReturnType<typeof readKeyStatus>>

/** Reports the signing keys, newest first, and the last steps of their rotation. */
export function reportKeys({ keys, evidence, attempt, next_due: due }: Status, now = Date.now()): Report {
  const isSigned = keys.some(({ state }) => state === 'active')
  const signer = isSigned ? 'A key signs' : 'No key signs'
  return {
    ok: isSigned && !isOverdue(due, now),
    verdict:
      due === null ? `${signer}: none was ever created` : `${signer}; the next step ${describeDue(due, now)}`,
    sections: [
      {
        title: 'Creation of a key that has not ended yet',
        rows:
          attempt === null
            ? []
            : [{ cells: [`since ${formatInstant(attempt.started_at)}`, attempt.arn ?? '-'] }],
      },
      listKeys(keys),
      listSteps(evidence),
    ],
  }
}

/** Says when the next step of the rotation is due, or since when. */
export function describeDue(due: number, now: number): string {
  const span = formatDuration(due - now)
  return due >= now
    ? `is due ${formatInstant(due)}, in ${span}`
    : `was due ${formatInstant(due)}, ${span} ago`
}

/** A signing key, as far as reports show it. */
export type ListedKey = Pick<
  SigningKey,
  'kid' | 'arn' | 'state' | 'published_at' | 'active_at' | 'retiring_at' | 'retired_at'
>

/** Lists signing keys, newest first, each with the instant at which its state began. */
export const listKeys = (keys: readonly ListedKey[], describe = ({ arn }: ListedKey) => arn): Section => ({
  title: 'Keys',
  columns: ['KID', 'STATE', 'SINCE'],
  rows: keys
    .map((key) => ({
      cells: [key.kid, key.state, formatInstant(key[`${key.state}_at`])],
      below: describe(key),
    }))
    .reverse(),
})

/** How many steps of the rotation a report lists. */
const maxSteps = 10

const shorten = (kid: string | null): string => (kid === null ? '-' : `${kid.slice(0, 8)}…`)

/** Lists the newest records of the evidence. */
export const listSteps = (records: readonly Evidence[]): Section => ({
  title:
    records.length > maxSteps
      ? `Last ${maxSteps} of ${records.length} steps of the rotation (--json prints all)`
      : 'Steps of the rotation',
  columns: ['', 'AT', 'STEP', 'FROM', 'TO', 'BY'],
  rows: records
    .slice(-maxSteps)
    .map((record) => ({
      cells: [
        String(record.sequence),
        formatInstant(record.at),
        record.action,
        shorten(record.old_kid),
        shorten(record.new_kid),
        record.trigger.requested_by ?? record.trigger.kind,
      ],
    }))
    .reverse(),
})

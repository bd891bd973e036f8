import type { Report as Audit } from '../audit/audit.ts'
import { formatInstant } from '../format.ts'
import { countNoun, type Report } from '../report.ts'
import { describeDue, listKeys, listSteps } from './keys.ts'

/** Reports an audit of the signing keys: its findings first, then the controls that they violate. */
export function reportAudit({ at, findings, controls, keys, records, ...audit }: Audit): Report {
  const rowsOf = (wanted: boolean) =>
    controls.filter(({ holds }) => holds === wanted).map(({ title }) => ({ cells: [title] }))
  const [violated, held] = [rowsOf(false), rowsOf(true)]
  return {
    ok: audit.ok,
    verdict: audit.ok
      ? `No findings: all ${countNoun(held.length, 'control')} hold`
      : `${countNoun(findings.length, 'finding')}: ${violated.length} of ${countNoun(controls.length, 'control')} violated`,
    sections: [
      {
        title: 'Findings',
        rows: findings.map(({ finding, subject, message }) => ({
          cells: [finding, subject],
          below: message,
        })),
        tone: 'wrong',
      },
      { title: 'Controls that are violated', rows: violated, tone: 'wrong' },
      { title: 'Controls that hold', rows: held, tone: 'well' },
      {
        title: 'Rotation',
        rows: [
          { cells: ['signer', audit.signer ?? 'none'] },
          ...(audit.next_due === null ? [] : [{ cells: ['next step', describeDue(audit.next_due, at)] }]),
          { cells: ['trail', audit.trail.words] },
        ],
      },
      listKeys(keys, ({ arn }) => {
        const kms = keys.find((key) => key.arn === arn)?.kms
        const deletion = kms?.deletionAt === undefined ? '' : `, deleted at ${formatInstant(kms.deletionAt)}`
        return `${arn}, in KMS ${kms?.state ?? 'unknown'}${deletion}`
      }),
      listSteps(records),
    ],
  }
}

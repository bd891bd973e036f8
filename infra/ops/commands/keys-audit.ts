import type { Command } from 'commander'
import { readFileSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import { examples } from '../examples.ts'
import { UsageError } from '../problems.ts'
import type { Carry } from '../ops.ts'

const EarlierReport = v.object({
  evidence: v.object({ head: v.nullable(v.object({ sequence: v.number(), hash: v.string() })) }),
})

/** `keys audit`: verifies the signing keys and their history, independently and without changing anything. */
export const addKeysAudit = (parent: Command, carry: Carry): Command =>
  parent
    .command('audit')
    .description(
      'Verifies KMS, the records, the public key set, the schedule and the chain of evidence; exits 1 on any finding. Reads only.',
    )
    .option('--html <file>', 'write the report as one HTML file, too')
    .option('--previous <file>', 'an earlier report (--json), whose last evidence must still be in the chain')
    .addHelpText(
      'after',
      examples([
        ['keys audit', 'audits the local stack'],
        ['--stage prod --base-url https://api.example.com keys audit --html audit.html', 'a report to print'],
        ['--json keys audit > today.json', 'keeps the head of the chain for later'],
        ['keys audit --previous last-month.json', 'also shows whether the history was written anew since'],
      ]),
    )
    .action(async ({ html, previous }: { html?: string; previous?: string }) => {
      const anchor = previous === undefined ? undefined : readAnchor(previous)
      await carry(async ({ target, show }) => {
        const { gatherFacts } = await import('../audit/gather-facts.ts')
        const { audit } = await import('../audit/audit.ts')
        const { writeText } = await import('../audit/report/write-text.ts')
        const report = audit(await gatherFacts(target, { anchor }))
        if (html !== undefined) {
          const { writeHtml } = await import('../audit/report/write-html.ts')
          writeFileSync(html, writeHtml(report, target.stage))
        }
        show(report, () => writeText(report))
        return report.ok
      })
    })

function readAnchor(file: string) {
  try {
    return v.parse(EarlierReport, JSON.parse(readFileSync(file, 'utf8'))).evidence.head ?? undefined
  } catch {
    throw new UsageError(`${file} is no report that \`keys audit --json\` has written`)
  }
}

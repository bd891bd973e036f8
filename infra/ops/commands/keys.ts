import type { Command } from 'commander'
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import type { RotationResult } from '../../../shared/keys/run.ts'
import type { Anchor } from '../audit/facts.ts'
import { type CommandContext, examples, type RunCommand } from '../command.ts'
import { UsageError } from '../errors.ts'

const byOption = ['--by <name>', 'your name, for the evidence record', process.env['USER']] as const

/** Adds the command group `keys`, which shows, audits and rotates the signing keys. */
export function addKeysCommands(program: Command, run: RunCommand): void {
  const parent = program.command('keys').description('Shows, rotates, revokes and audits the signing keys.')
  parent
    .command('status')
    .description(
      'Shows every signing key and its state, the evidence records, and when the next step is due.',
    )
    .action(() =>
      run(async ({ show }) => {
        const { readKeyStatus } = await import('../keys/key-status.ts')
        const { reportKeys } = await import('../reports/keys.ts')
        const status = await readKeyStatus()
        return show(status, { ok: true, report: reportKeys(status) })
      }),
    )
  parent
    .command('rotate')
    .description('Starts a rotation: publishes a new key, which signs once every client can know it.')
    .option('--emergency', 'let the new key sign at once')
    .option(...byOption)
    .action(({ emergency = false, by }: { emergency?: boolean; by?: string }) =>
      run((context) => runRotation(context, { action: 'rotate', emergency, requested_by: by })),
    )
  parent
    .command('revoke')
    .argument('<kid>', 'kid of the key in the JWKS')
    .description(
      'Removes a key from the JWKS at once and disables it. If it is the signer, a new key takes over first.',
    )
    .option(...byOption)
    .action((kid: string, { by }: { by?: string }) =>
      run((context) => runRotation(context, { action: 'revoke', kid: kid.trim(), requested_by: by })),
    )
  addAudit(parent, run)
}

/** Invokes the rotation function with a request, and shows the result. */
async function runRotation({ target, show }: CommandContext, request: object): Promise<boolean> {
  const { invokeFunction } = await import('../invoke-function.ts')
  const result = await invokeFunction(`${target.namePrefix}rotate-signing-keys`, request)
  return show(result as RotationResult)
}

const addAudit = (parent: Command, run: RunCommand): Command =>
  parent
    .command('audit')
    .description(
      'Verifies the signing keys in KMS, their records, the JWKS, the schedule and the evidence chain; exits 1 on any finding. Changes nothing.',
    )
    .option(
      '--previous <file>',
      'an earlier report (--json), whose last evidence record must still be in the chain',
    )
    .addHelpText(
      'after',
      examples({
        '--json keys audit > today.json': 'saves the end of the evidence chain for later',
        'keys audit --previous last-month.json': 'also detects a chain that was rewritten since then',
      }),
    )
    .action(async ({ previous }: { previous?: string }) => {
      const anchor = previous === undefined ? undefined : readAnchor(previous)
      await run(async ({ target, show, terminal }) => {
        const { gatherFacts } = await import('../audit/gather-facts.ts')
        const { audit } = await import('../audit/audit.ts')
        const { reportAudit } = await import('../reports/audit.ts')
        const audited = audit(await gatherFacts(target, { anchor, terminal }))
        return show(audited, { report: reportAudit(audited) })
      })
    })

const EarlierReport = v.object({
  evidence: v.object({ head: v.nullable(v.object({ sequence: v.number(), hash: v.string() })) }),
})

function readAnchor(file: string): Anchor | undefined {
  try {
    return v.parse(EarlierReport, JSON.parse(readFileSync(file, 'utf8'))).evidence.head ?? undefined
  } catch {
    throw new UsageError(`${file} is not a report of \`keys audit --json\``)
  }
}

import type { Command } from 'commander'
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import type { Anchor } from '../audit/facts.ts'
import { examples, type RunCommand } from '../command.ts'
import { UsageError } from '../errors.ts'
import { runRotation } from '../keys/run-rotation.ts'

const byOption = ['--by <name>', 'your name, for the evidence record', process.env['USER']] as const

/** Adds the command group `keys`, which shows, audits and rotates the signing keys. */
export function addKeysCommands(program: Command, run: RunCommand): void {
  const parent = program.command('keys').description('Shows, rotates, revokes and audits the signing keys.')
  addStatus(parent, run)
  addRotate(parent, run)
  addRevoke(parent, run)
  addAudit(parent, run)
}

const addStatus = (parent: Command, run: RunCommand): Command =>
  parent
    .command('status')
    .description(
      'Shows every signing key and its state, the evidence records, and when the next step is due.',
    )
    .addHelpText(
      'after',
      examples({
        'keys status': 'shows the keys of the local stack',
        '--stage prod keys status --json': 'prints keys, evidence and next_due as JSON',
      }),
    )
    .action(() =>
      run(async ({ show }) => {
        const { formatKeyStatus, readKeyStatus } = await import('../keys/key-status.ts')
        const status = await readKeyStatus()
        show(status, () => formatKeyStatus(status))
        return true
      }),
    )

interface RotateOptions {
  emergency?: boolean
  revokeOld?: boolean
  by?: string
}

const addRotate = (parent: Command, run: RunCommand): Command =>
  parent
    .command('rotate')
    .description('Starts a rotation: publishes a new key, which signs once every client can know it.')
    .option('--emergency', 'let the new key sign at once')
    .option(
      '--revoke-old',
      'with --emergency: wait until no function signs with an old key, about a minute, and revoke every old key',
    )
    .option(...byOption)
    .addHelpText(
      'after',
      examples({
        'keys rotate': 'publishes the next key ahead of time',
        '--stage prod keys rotate --emergency --revoke-old --by "A. Operator"':
          'replaces signing keys that may have leaked: their tokens stop verifying',
      }),
    )
    .action(({ emergency = false, revokeOld = false, by }: RotateOptions) =>
      run(async (context) => {
        if (!revokeOld) return runRotation(context, { action: 'rotate', emergency, requested_by: by })
        if (!emergency)
          throw new UsageError('--revoke-old needs --emergency: else the old key goes on signing')
        const { replaceSigner } = await import('../keys/replace-signer.ts')
        return replaceSigner(context, by)
      }),
    )

const addRevoke = (parent: Command, run: RunCommand): Command =>
  parent
    .command('revoke')
    .argument('<kid>', 'kid of the key in the JWKS')
    .description(
      'Removes a key from the JWKS at once and disables it. If it is the signer, a new key takes over first.',
    )
    .option(...byOption)
    .addHelpText(
      'after',
      examples({ '--stage prod keys revoke KID': 'tokens signed by this key stop verifying' }),
    )
    .action((kid: string, { by }: { by?: string }) =>
      run((context) => runRotation(context, { action: 'revoke', kid: kid.trim(), requested_by: by })),
    )

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
        'keys audit': 'audits the local stack',
        '--json keys audit > today.json': 'saves the end of the evidence chain for later',
        'keys audit --previous last-month.json': 'also detects a chain that was rewritten since then',
      }),
    )
    .action(async ({ previous }: { previous?: string }) => {
      const anchor = previous === undefined ? undefined : readAnchor(previous)
      await run(async ({ target, show }) => {
        const { gatherFacts } = await import('../audit/gather-facts.ts')
        const { audit } = await import('../audit/audit.ts')
        const { formatReport } = await import('../audit/format-report.ts')
        const report = audit(await gatherFacts(target, { anchor }))
        show(report, () => formatReport(report))
        return report.ok
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

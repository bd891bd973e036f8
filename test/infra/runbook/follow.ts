import { CancelKeyDeletionCommand, DisableKeyCommand, EnableKeyCommand } from '@aws-sdk/client-kms'
import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { runOps } from '../../../infra/ops/command-line.ts'
import { kms } from '../../../shared/aws/kms.ts'
import type { RotationResult } from '../../../shared/keys/rotate.ts'
import { sectionOf } from './read-runbook.ts'

/** What a command ended with; `result` is what it printed as JSON. */
export interface Done {
  code: number
  result: unknown
  err: string
}

type Words = Record<string, string>

/** A procedure of the runbook, whose commands are carried out as they stand there, with values for the words in capitals. */
export interface Procedure {
  ops: (command: string, words?: Words) => Promise<Done>
  aws: (command: string, words?: Words) => Promise<void>
}

const awsCommands: Record<string, (keyId: string) => Promise<unknown>> = {
  'aws kms enable-key --key-id ARN': (KeyId) => kms.send(new EnableKeyCommand({ KeyId })),
  'aws kms disable-key --key-id ARN': (KeyId) => kms.send(new DisableKeyCommand({ KeyId })),
  'aws kms cancel-key-deletion --key-id ARN': (KeyId) => kms.send(new CancelKeyDeletionCommand({ KeyId })),
}

/** Opens a procedure to be followed at an address; a command that it does not spell out cannot be given. */
export function follow(heading: string, url: string): Procedure {
  const text = sectionOf(heading)
  return {
    async ops(command, words = {}) {
      expect(text).toMatch(new RegExp(`npm run (--silent )?ops -- ${escape(command)}\``))
      const [line = '', file] = command.split(' > ')
      const done = await run(['--url', url, ...fill(line, words)])
      if (file !== undefined) writeFileSync(words[file] ?? file, JSON.stringify(done.result))
      return done
    },
    async aws(command, words = {}) {
      const carryOut = awsCommands[command]
      expect(text).toContain(`\`${command}\``)
      if (carryOut === undefined) throw new Error(`nobody knows how to carry out ${command}`)
      await carryOut(words['ARN'] ?? '')
    },
  }
}

const fill = (line: string, words: Words): string[] => line.split(' ').map((part) => words[part] ?? part)
const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

async function run(commandLine: string[]): Promise<Done> {
  const lines = { out: [] as string[], err: [] as string[] }
  const table = process.env['TABLE_NAME']
  const code = await runOps([...commandLine, '--json'], {
    out: (line) => void lines.out.push(line),
    err: (line) => void lines.err.push(line),
    readInput: async function* () {},
    interactive: false,
  })
  // A command may have been pointed at another table, and shares the environment with this process.
  process.env['TABLE_NAME'] = table
  const out = lines.out.join('\n')
  return { code, result: out === '' ? undefined : JSON.parse(out), err: lines.err.join('\n') }
}

/** How long it may take until something shows: the caches of these stacks are short, the machines may be busy. */
export const patience = { timeout: 20_000, interval: 200 }

/** What the audit named, sorted: each finding with what it is about. */
export async function findings({ ops }: Procedure, command = 'keys audit', words: Words = {}) {
  const { result } = await ops(command, words)
  const { findings: found } = result as { findings: { finding: string; subject: string }[] }
  return found.map(({ finding, subject }) => `${finding} ${subject}`).sort()
}

/** The key that a rotation says signs now. */
export const signerOf = ({ result, err }: Done): string => {
  const { signer } = (result ?? expect.unreachable(err)) as RotationResult
  return signer ?? expect.unreachable()
}

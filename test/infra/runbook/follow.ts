import { DisableKeyCommand, KMSClient } from '@aws-sdk/client-kms'
import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { captureOps } from '../../../infra/ops/command-line.ts'
import type { RotationResult } from '../../../shared/keys/run.ts'
import { sectionOf } from './read-runbook.ts'

/** The outcome of an ops command. `result` is the JSON that the command printed. */
export interface CommandOutcome {
  code: number
  result: unknown
  err: string
}

type Words = Record<string, string>

/**
 * Runs the commands of one procedure in the runbook, with values for their placeholders. Throws for a command
 * that the procedure does not contain.
 */
export interface Procedure {
  ops: (command: string, words?: Words) => Promise<CommandOutcome>
  /** Runs an AWS CLI command, and resolves with the output of the AWS operation. */
  aws: (command: string, words?: Words) => Promise<unknown>
}

/** The runbook's AWS CLI commands that tests can run, each as a function of its placeholder's value. */
const awsCommands: Record<string, (word: string) => Promise<unknown>> = {
  'aws kms disable-key --key-id ARN': (KeyId) =>
    new KMSClient(clientOptions()).send(new DisableKeyCommand({ KeyId })),
}

/** Opens a procedure of the runbook. Its commands run against the stack at `url`. */
export function follow(heading: string, url: string): Procedure {
  const text = sectionOf(heading)
  return {
    async ops(command, words = {}) {
      expect(text).toMatch(new RegExp(`npm run (--silent )?ops -- ${escape(command)}\``))
      const [line = '', file] = command.split(' > ')
      const outcome = await run(['--url', url, ...fill(line, words)])
      if (file !== undefined) writeFileSync(words[file] ?? file, JSON.stringify(outcome.result))
      return outcome
    },
    async aws(command, words = {}) {
      const runCommand = awsCommands[command]
      expect(text).toContain(`\`${command}\``)
      if (runCommand === undefined) throw new Error(`the procedures of the runbook cannot run ${command}`)
      const [word = ''] = Object.values(words)
      return runCommand(word)
    },
  }
}

const fill = (line: string, words: Words): string[] => line.split(' ').map((part) => words[part] ?? part)
const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

async function run(commandLine: string[]): Promise<CommandOutcome> {
  const table = process.env['TABLE_NAME']
  const { code, out, err } = await captureOps([...commandLine, '--json'])
  // Restores TABLE_NAME, because a command with --table changes it in the environment of this process.
  process.env['TABLE_NAME'] = table
  return { code, result: out === '' ? undefined : JSON.parse(out), err }
}

/** Polling options for tests of the runbook. The timeout is long enough for a busy machine. */
export const pollOptions = { timeout: 20_000, interval: 200 }

/** Runs an audit. Returns a sorted list of strings, each with a finding and the key or item concerned. */
export async function findings({ ops }: Procedure, command = 'keys audit', words: Words = {}) {
  const { result } = await ops(command, words)
  const { findings: found } = result as { findings: { finding: string; subject: string }[] }
  return found.map(({ finding, subject }) => `${finding} ${subject}`).sort()
}

/** Returns the kid of the signing key from the outcome of a rotation; throws if the rotation failed. */
export const signerOf = ({ result, err }: CommandOutcome): string => {
  const { signer } = (result ?? expect.unreachable(err)) as RotationResult
  return signer ?? expect.unreachable()
}

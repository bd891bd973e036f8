import { DynamoDBClient, UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { EnableRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { CancelKeyDeletionCommand, DisableKeyCommand, EnableKeyCommand, KMSClient } from '@aws-sdk/client-kms'
import { LambdaClient, ListVersionsByFunctionCommand, UpdateAliasCommand } from '@aws-sdk/client-lambda'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { runOps } from '../../../infra/ops/command-line.ts'
import type { RotationResult } from '../../../shared/keys/run.ts'
import { sectionOf } from './read-runbook.ts'

/** The outcome of an ops command; `result` is the JSON that it printed. */
export interface CommandOutcome {
  code: number
  result: unknown
  err: string
}

type Words = Record<string, string>

/**
 * Runs the commands of one runbook procedure, with values for their placeholders. Throws for a command that
 * the procedure does not contain.
 */
export interface Procedure {
  ops: (command: string, words?: Words) => Promise<CommandOutcome>
  /** Resolves with what AWS answers. */
  aws: (command: string, words?: Words) => Promise<unknown>
}

/** A client of KMS in the region that the environment names now. */
const kms = () => new KMSClient(clientOptions())

/** What `aws cloudtrail lookup-events` sends. The project has no client of CloudTrail, and needs no other. */
async function lookUpEvents(AttributeKey: string, AttributeValue: string): Promise<unknown> {
  const { endpoint = '', region } = clientOptions()
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      // The local stack does not check signatures.
      authorization: `AWS4-HMAC-SHA256 Credential=any/20261122/${region}/cloudtrail/aws4_request`,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents',
    },
    body: JSON.stringify({ LookupAttributes: [{ AttributeKey, AttributeValue }] }),
  })
  return response.json()
}

/** The AWS commands of the runbook, each with the values of its placeholders in their order. */
const awsCommands: Record<string, (word: string, other: string) => Promise<unknown>> = {
  'aws kms enable-key --key-id ARN': (KeyId) => kms().send(new EnableKeyCommand({ KeyId })),
  'aws kms disable-key --key-id ARN': (KeyId) => kms().send(new DisableKeyCommand({ KeyId })),
  'aws kms cancel-key-deletion --key-id ARN': (KeyId) => kms().send(new CancelKeyDeletionCommand({ KeyId })),
  'aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventSource,AttributeValue=kms.amazonaws.com':
    () => lookUpEvents('EventSource', 'kms.amazonaws.com'),
  'aws events enable-rule --name NAME': (Name) =>
    new EventBridgeClient(clientOptions()).send(new EnableRuleCommand({ Name })),
  'aws dynamodb update-item --cli-input-json file://FILE': (file) =>
    new DynamoDBClient(clientOptions()).send(
      new UpdateItemCommand(JSON.parse(readFileSync(file, 'utf8')) as UpdateItemCommandInput),
    ),
  'aws lambda list-versions-by-function --function-name NAME': (FunctionName) =>
    new LambdaClient(clientOptions()).send(new ListVersionsByFunctionCommand({ FunctionName })),
  'aws lambda update-alias --function-name NAME --name live --function-version NUMBER': (
    FunctionName,
    FunctionVersion,
  ) =>
    new LambdaClient(clientOptions()).send(
      new UpdateAliasCommand({ FunctionName, Name: 'live', FunctionVersion }),
    ),
}

/** Opens a procedure of the runbook, whose commands then run against the stack at `url`. */
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
      if (runCommand === undefined) throw new Error(`the rehearsals cannot run ${command}`)
      const [word = '', other = ''] = Object.values(words)
      return runCommand(word, other)
    },
  }
}

const fill = (line: string, words: Words): string[] => line.split(' ').map((part) => words[part] ?? part)
const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

async function run(commandLine: string[]): Promise<CommandOutcome> {
  const lines = { out: [] as string[], err: [] as string[] }
  const table = process.env['TABLE_NAME']
  const code = await runOps([...commandLine, '--json'], {
    out: (line) => void lines.out.push(line),
    err: (line) => void lines.err.push(line),
    readInput: async function* () {},
    interactive: false,
  })
  // Restores TABLE_NAME, which a command with --table changes in the environment of this process.
  process.env['TABLE_NAME'] = table
  const out = lines.out.join('\n')
  return { code, result: out === '' ? undefined : JSON.parse(out), err: lines.err.join('\n') }
}

/**
 * Polling options of the rehearsals: long enough for a busy machine, although the stacks' caches are
 * short-lived.
 */
export const pollOptions = { timeout: 20_000, interval: 200 }

/** Runs an audit and returns its findings, sorted, each with its subject. */
export async function findings({ ops }: Procedure, command = 'keys audit', words: Words = {}) {
  const { result } = await ops(command, words)
  const { findings: found } = result as { findings: { finding: string; subject: string }[] }
  return found.map(({ finding, subject }) => `${finding} ${subject}`).sort()
}

/** Returns the kid of the signing key from the result of a rotation. */
export const signerOf = ({ result, err }: CommandOutcome): string => {
  const { signer } = (result ?? expect.unreachable(err)) as RotationResult
  return signer ?? expect.unreachable()
}

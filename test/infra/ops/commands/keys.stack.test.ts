import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useLocalStack } from '../../../support/local-stack.ts'

const root = join(import.meta.dirname, '../../../..')
const directory = mkdtempSync(join(tmpdir(), 'auditor-'))
let auditor: Record<string, string>

/** Gets credentials of the auditor's role, as `aws sts assume-role` does. */
beforeAll(async () => {
  const { aws_endpoint: endpoint, auditor_role_arn: arn } = await useLocalStack()
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      authorization: 'AWS4-HMAC-SHA256 Credential=somebody/20260101/us-east-1/sts/aws4_request, Signature=0',
    },
    body: new URLSearchParams({ Action: 'AssumeRole', RoleArn: arn, RoleSessionName: 'audit' }),
  })
  const text = await answer.text()
  const member = (name: string) =>
    new RegExp(`<${name}>(.+)</${name}>`).exec(text)?.[1] ?? expect.unreachable(text)
  auditor = {
    AWS_ACCESS_KEY_ID: member('AccessKeyId'),
    AWS_SECRET_ACCESS_KEY: member('SecretAccessKey'),
    AWS_SESSION_TOKEN: member('SessionToken'),
  }
})

/** Runs an ops command line in a process of its own, with the credentials of the auditor's role. */
async function run(commandLine: string): Promise<{ code: number; out: string; err: string }> {
  const { base_url: url } = await useLocalStack()
  const parameters = ['infra/ops/main.ts', '--url', url, ...commandLine.split(' ')]
  return new Promise((resolve) => {
    const env = { ...process.env, ...auditor }
    execFile(process.execPath, parameters, { cwd: root, env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

describe('commands with the auditor’s role', { timeout: 60_000 }, () => {
  it('keys audit works with the auditor’s role, and writes its HTML report', async () => {
    const file = join(directory, 'audit.html')
    const { code, out, err } = await run(`keys audit --json --html ${file}`)
    expect(code, err).toBe(0)
    const report = JSON.parse(out) as { ok: boolean; keys: { kms_state: string }[]; schedule: object }
    expect(report).toMatchObject({ ok: true, findings: [], schedule: { exists: true, enabled: true } })
    expect(report.keys.map(({ kms_state: state }) => state)).toContain('Enabled')
    expect(readFileSync(file, 'utf8')).toContain('No findings')
  })

  it.concurrent.each([
    'keys rotate --emergency',
    'keys revoke KID',
    // A kid may begin with a hyphen, and is no option then.
    `keys revoke -${'k'.repeat(42)}`,
    'ledger verify',
    'dlq drop user.registered --yes',
  ])('the auditor’s role is denied: %s', async (commandLine) => {
    const { code, out, err } = await run(commandLine)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/AccessDenied|not authorized/)
  })
})

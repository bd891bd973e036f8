import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { accessKeyIdOf } from '../../../../infra/local/aws/iam/callers.ts'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { signingAlgorithm } from '../../../../shared/aws/signing-key-names.ts'
import { requireEnv } from '../../../../shared/env.ts'
import { readEvidence } from '../../../../shared/keys/evidence.ts'
import { activeKey, readKeySet } from '../../../../shared/keys/set.ts'
import { useLocalStack } from '../../../support/local-stack.ts'

const root = join(import.meta.dirname, '../../../..')
let auditor: Record<string, string>

beforeAll(async () => {
  const { auditor_role_arn: arn } = await useLocalStack()
  auditor = { AWS_ACCESS_KEY_ID: accessKeyIdOf(arn), AWS_SECRET_ACCESS_KEY: 'any', AWS_SESSION_TOKEN: 'any' }
})

async function run(commandLine: string) {
  const { base_url: url } = await useLocalStack()
  return runNode(['infra/ops/main.ts', '--url', url, ...commandLine.split(' ')], auditor)
}

function runNode(parameters: string[], role: object): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...role }
    execFile(process.execPath, parameters, { cwd: root, env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

it('an administrator cannot sign with a key of the service, although IAM allows everything', async () => {
  const credentials = { accessKeyId: 'administrator', secretAccessKey: 'any' }
  const kms = new KMSClient({ ...clientOptions(), credentials })
  const signing = {
    Message: Buffer.alloc(32),
    MessageType: 'DIGEST',
    SigningAlgorithm: signingAlgorithm,
  } as const
  for (const KeyId of [activeKey(await readKeySet())?.arn, requireEnv('EVIDENCE_KEY_ID')]) {
    await kms.send(new GetPublicKeyCommand({ KeyId }))
    const refused = { name: 'AccessDeniedException' }
    await expect(kms.send(new SignCommand({ KeyId, ...signing }))).rejects.toMatchObject(refused)
  }
})

describe('commands with the auditor’s role', { timeout: 60_000 }, () => {
  it('`keys audit` works with the auditor’s role', async () => {
    const { code, out, err } = await run('keys audit --json')
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      findings: [],
      evidence: { copies: (await readEvidence()).length },
      schedule: { exists: true, enabled: true },
      keys: expect.arrayContaining([
        expect.objectContaining({ kms: expect.objectContaining({ state: 'Enabled' }) as object }),
      ]) as object[],
    })
  })

  it('`keys audit` reports rewritten evidence even if the rotation’s own role wrote and signed it', async () => {
    const rotation = 'arn:aws:lambda:us-east-1:000000000000:function:rotate-signing-keys'
    const rewrite = (runId = '') =>
      runNode(['test/support/rewrite-evidence.ts', runId], { AWS_ACCESS_KEY_ID: accessKeyIdOf(rotation) })
    const [first] = await readEvidence()
    expect(await rewrite('nobody')).toMatchObject({ code: 0 })
    const { code, out } = await run('keys audit')
    await rewrite(first?.run_id)
    expect(code).toBe(1)
    expect(out).toMatch(
      /evidence\/000000000001-\w+\n +The chain lacks the record of this copy: it was rewritten/,
    )
  })

  it.concurrent.each([
    'keys rotate --emergency',
    'keys revoke KID',
    // This kid begins with a hyphen. The command must not take it for an option.
    `keys revoke -${'k'.repeat(42)}`,
    'ledger verify',
    'dlq drop user.registered --unsaved --yes',
  ])('the auditor’s role is denied: %s', async (commandLine) => {
    const { code, out, err } = await run(commandLine)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/AccessDenied|not authorized/)
  })
})

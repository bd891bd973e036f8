import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'

const Outputs = v.object({
  'account-service-dev-api': v.object({ BaseUrl: v.string(), TableName: v.string() }),
  'account-service-dev-intake': v.object({ EventBusName: v.string() }),
})

/** Deploys the stage `dev` with CDK, and returns the environment variables that the flows need. */
export function deploy(): Record<string, string> {
  const directory = mkdtempSync(join(tmpdir(), 'deploy-'))
  const outputsFile = join(directory, 'outputs.json')
  const common = ['-c', 'stage=dev', '--output', join(directory, 'assembly')]
  cdk('bootstrap', ...common)
  cdk('deploy', '--all', '--require-approval', 'never', '--outputs-file', outputsFile, ...common)
  const outputs = v.parse(Outputs, JSON.parse(readFileSync(outputsFile, 'utf8')))
  return {
    BASE_URL: outputs['account-service-dev-api'].BaseUrl,
    TABLE_NAME: outputs['account-service-dev-api'].TableName,
    EVENT_BUS_NAME: outputs['account-service-dev-intake'].EventBusName,
  }
}

function cdk(...commandLine: string[]): void {
  const { status } = spawnSync(process.execPath, ['node_modules/aws-cdk/bin/cdk', ...commandLine], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`cdk ${commandLine[0] ?? ''} ended with ${status ?? 'a signal'}`)
}

import { App } from 'aws-cdk-lib'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { openDatabase } from '../../../infra/local/dynamodb/own-database.ts'
import { startDynamodb } from '../../../infra/local/dynamodb/start-dynamodb.ts'
import { type LocalStack, startLocalStack } from '../../../infra/local/local-stack.ts'
import type { Synthesize } from '../../../infra/local/stage.ts'
import { readStackTemplates } from '../../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../../infra/stacks/add-stacks.ts'
import { StandbyStack, standbyStackName } from '../../../infra/stacks/standby-stack.ts'
import { ephemeral } from '../../support/ephemeral.ts'
import { enterStack } from './own-stack.ts'
import { openTables } from './restore-table.ts'

const standby = { region: 'eu-west-1' }

/** The stacks of a standby region after a failover; that of the replicas was there before. */
const synthesizeFailover: Synthesize = async (outdir, settings) => {
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false })
  const config = readConfig({ ...settings, stage: 'local', multiRegionKeys: true, standby, failover: true })
  await addStacks(app, config)
  const primary = { stackName: 'account-service-local-data', region: 'us-east-1' }
  new StandbyStack(app, standbyStackName(config), { env: standby, config, primary })
  return readStackTemplates(app.synth())
}

/**
 * Rehearses the procedure for a lost region on two local stacks. The second one has replicas of the keys of
 * the first, and its table as DynamoDB had replicated it: without its last moments.
 */
export async function aLostRegion(lost: LocalStack): Promise<void> {
  const { actInLostRegion } = await import('./a-lost-region-before.ts')
  const [table] = lost.model.tables
  const layout = table?.createTableInput ?? {}
  const database = await startDynamodb(undefined)
  const directory = mkdtempSync(join(tmpdir(), 'rehearsal-'))
  try {
    const { items, ...before } = await actInLostRegion(lost.baseUrl, layout, directory)
    const replicated = {
      keys: lost.aws.multiRegionKeys(),
      outputs: lost.model.outputs,
      tables: lost.model.tables,
    }
    const replica = openTables(layout, openDatabase(database.endpoint))
    await replica.restore({ items }, table?.name ?? '')
    replica.close()
    await lost.stop()
    const lostAt = Date.now()
    const stack = await startLocalStack({
      ...ephemeral,
      ...standby,
      // As with a domain, which is moved: the issuer stays the same.
      port: Number(new URL(lost.baseUrl).port),
      dynamodbEndpoint: database.endpoint,
      demo: false,
      settings: { signingKeyPublishSeconds: '600' },
      showLine: () => undefined,
      synthesize: synthesizeFailover,
      replicated,
    })
    try {
      // The AWS clients of the modules imported so far have the address of the lost region.
      vi.resetModules()
      enterStack(stack)
      const { actInStandbyRegion } = await import('./a-lost-region-after.ts')
      const { signedInAt, lostEvents } = await actInStandbyRegion(stack.baseUrl, before)
      const recoveryMilliseconds = signedInAt - lostAt
      // What the procedure promises to tell: infra/RUNBOOK.md has these figures of a quiet machine.
      console.info(
        `first sign-in ${recoveryMilliseconds} ms after the loss; lost until repeated: ${lostEvents} events`,
      )
      expect(recoveryMilliseconds).toBeLessThan(60_000)
    } finally {
      await stack.stop()
    }
  } finally {
    await database.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

import { existsSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { Settings } from '../../shared/settings.ts'
import { type Config, readConfig } from '../config.ts'
import { UsageError } from './problems.ts'
import type { Target, TargetOptions } from './target.ts'

const CdkJson = v.object({
  context: v.object({ stages: v.optional(v.record(v.string(), v.record(v.string(), v.unknown())), {}) }),
})
const Outputs = v.record(v.string(), v.record(v.string(), v.string()))

/**
 * A stage on AWS. Its configuration is that of cdk.json, not what the deployment says of itself; names follow from the
 * stage's. Only the address of an API without a domain of its own is AWS's choice: it comes from the option, or the file of the
 * stacks' outputs.
 */
export function findStage(
  stage: string,
  options: Pick<TargetOptions, 'baseUrl' | 'outputs'>,
  cdkFile = 'cdk.json',
): Target {
  const { stages } = v.parse(CdkJson, JSON.parse(readFileSync(cdkFile, 'utf8'))).context
  const values = stages[stage]
  if (values === undefined) {
    throw new UsageError(`cdk.json has no stage ${stage}; it has ${Object.keys(stages).join(', ') || 'none'}`)
  }
  const config = readConfig({ ...values, stage })
  const name = `${config.namePrefix}account-service`
  return {
    stage,
    baseUrl: options.baseUrl ?? customAddress(config) ?? readBaseUrl(stage, options.outputs),
    awsEndpoint: undefined,
    namePrefix: config.namePrefix,
    tableName: name,
    eventBusName: name,
    settings: v.parse(Settings, config),
  }
}

const customAddress = ({ domainName }: Config): string | undefined =>
  domainName === undefined ? undefined : `https://${domainName}`

function readBaseUrl(stage: string, file: string): string | undefined {
  if (!existsSync(file)) return undefined
  return v.parse(Outputs, JSON.parse(readFileSync(file, 'utf8')))[`account-service-${stage}-api`]?.['BaseUrl']
}

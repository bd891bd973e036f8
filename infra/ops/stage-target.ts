import { existsSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { Settings } from '../../shared/settings.ts'
import { type Config, ConfigError, readStageConfig } from '../config.ts'
import { UsageError } from './errors.ts'

const CdkJson = v.object({ context: v.object({ stages: v.optional(v.unknown(), {}) }) })
const Outputs = v.record(v.string(), v.record(v.string(), v.string()))

/**
 * Describes a stage on AWS from its configuration in cdk.json, without a request to AWS. Takes the API's
 * address from the option `baseUrl`, the `domainName` or the stack outputs file, in this order; that of the
 * authorization page from `authUrl` or the outputs file. Throws a UsageError for an unknown stage or an
 * invalid configuration.
 */
export function findStage(
  stage: string,
  options: { baseUrl?: string | undefined; outputs?: string | undefined; region?: string | undefined },
  cdkFile = 'cdk.json',
) {
  const config = readStage(stage, cdkFile)
  const outputs = readApiOutputs(stage, options.outputs ?? `cdk-outputs-${stage}.json`)
  return {
    stage,
    baseUrl: options.baseUrl ?? (config.domainName ? `https://${config.domainName}` : outputs['BaseUrl']),
    authUrl: config.authUrl ?? outputs['AuthUrl'],
    hasEdge: config.edge !== false,
    hasAlarms: config.alarms,
    concurrentExecutions: config.concurrentExecutions,
    awsEndpoint: undefined,
    standbyRegion: config.failover ? undefined : config.standby?.region,
    region: options.region ?? (config.failover ? config.standby?.region : undefined),
    namePrefix: config.namePrefix,
    // A failover gives the table a new name. In the lost region (--region), the table keeps its old name.
    tableName: (options.region === undefined && config.failover) || config.serviceName,
    eventBusName: config.serviceName,
    settings: v.parse(Settings, config),
    breakGlass: config.breakGlass,
  }
}

function readStage(stage: string, cdkFile: string): Config {
  const { stages } = v.parse(CdkJson, JSON.parse(readFileSync(cdkFile, 'utf8'))).context
  try {
    return readStageConfig(stage, stages)
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  }
}

/** Reads the outputs of a stage's API stack; none if `cdk deploy --outputs-file` wrote no such file. */
function readApiOutputs(stage: string, file: string): Record<string, string> {
  if (!existsSync(file)) return {}
  try {
    return v.parse(Outputs, JSON.parse(readFileSync(file, 'utf8')))[`account-service-${stage}-api`] ?? {}
  } catch {
    throw new UsageError(`${file} is not a file of \`cdk deploy --outputs-file\``)
  }
}

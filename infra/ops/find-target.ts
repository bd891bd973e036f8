import * as v from 'valibot'
import { Settings } from '../../shared/settings.ts'
import { OperationFailed } from './problems.ts'
import type { Target, TargetOptions } from './target.ts'

/** Finds the deployment that the options name: one on AWS by its stage, otherwise the local stack that answers at `url`. */
export async function findTarget(options: TargetOptions): Promise<Target> {
  const target = await findDeployment(options)
  return { ...target, tableName: options.table ?? target.tableName }
}

const findDeployment = (options: TargetOptions): Promise<Target> =>
  options.stage === undefined || options.stage === 'local'
    ? findLocalStack(options)
    : import('./stage-target.ts').then(({ findStage }) => findStage(options.stage ?? '', options))

const Description = v.object({
  base_url: v.string(),
  aws_endpoint: v.string(),
  event_bus: v.string(),
  table: v.string(),
  settings: v.record(v.string(), v.string()),
})

const defaultUrl = 'http://127.0.0.1:3000'

async function findLocalStack({ url, endpointUrl, baseUrl }: TargetOptions): Promise<Target> {
  if (url === undefined && endpointUrl !== undefined) return assumeLocalStack(endpointUrl, baseUrl)
  const described = await describeLocalStack(url ?? defaultUrl)
  return {
    stage: 'local',
    baseUrl: baseUrl ?? described.base_url,
    awsEndpoint: described.aws_endpoint,
    namePrefix: '',
    tableName: described.table,
    eventBusName: described.event_bus,
    settings: v.parse(Settings, described.settings),
  }
}

/** Where only the AWS endpoint is known, names and settings are taken for the default ones. */
const assumeLocalStack = (awsEndpoint: string, baseUrl: string | undefined): Target => ({
  stage: 'local',
  baseUrl,
  awsEndpoint,
  namePrefix: '',
  tableName: 'account-service',
  eventBusName: 'account-service',
  settings: v.parse(Settings, {}),
})

async function describeLocalStack(url: string): Promise<v.InferOutput<typeof Description>> {
  const address = `${url.replace(/\/$/, '')}/_local/stack`
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(10_000) })
    return v.parse(Description, await response.json())
  } catch (error) {
    throw new OperationFailed(
      `no local stack answers at ${address}: start it with \`npm start\`, name its address with --url, or a deployment with --stage`,
      { cause: error },
    )
  }
}

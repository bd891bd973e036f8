import * as v from 'valibot'
import { environmentName, Settings } from '../../shared/settings.ts'
import { OperationFailed } from './problems.ts'

/** A deployment, and how it is reached. */
export interface Target {
  stage: string
  /** Address of the API without a trailing slash; undefined where nobody has told it. */
  baseUrl: string | undefined
  /** Address that stands in for AWS, on a laptop. */
  awsEndpoint: string | undefined
  /** Put before the name of every resource. */
  namePrefix: string
  tableName: string
  eventBusName: string
  settings: Settings
}

/** Where the caller says that the deployment is. */
export interface TargetOptions {
  stage?: string | undefined
  /** Address of a local stack, by default that of `npm start`. */
  url?: string | undefined
  /** What stands in for AWS where no address of a local stack is given. */
  endpointUrl?: string | undefined
  baseUrl?: string | undefined
  /** A table to look at in place of the deployment's, such as one restored to a point in time. */
  table?: string | undefined
  /** File that `cdk deploy --outputs-file` has written. */
  outputs: string
}

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

/** The name of the deployment's table and bus, which is also the value of the tag that its signing keys carry. */
export const serviceName = (target: Pick<Target, 'namePrefix'>): string =>
  `${target.namePrefix}account-service`

/**
 * Points this process at a deployment, by the environment that a function of it would have: what functions and commands share
 * finds everything there. Must happen before any of it is loaded, since clients are made on loading.
 */
export async function enterTarget(target: Target): Promise<void> {
  Object.assign(process.env, {
    TABLE_NAME: target.tableName,
    EVENT_BUS_NAME: target.eventBusName,
    SIGNING_KEY_TAG: serviceName(target),
    ...Object.fromEntries(
      Object.entries(target.settings).map(([name, value]) => [environmentName(name), String(value)]),
    ),
    ...(target.awsEndpoint === undefined ? await resolveCredentials() : localCredentials(target.awsEndpoint)),
  })
}

/** Those of a role, where somebody has taken one on; otherwise the owner's, which any others are. */
const localCredentials = (endpoint: string) => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? 'operator',
  AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? 'local',
})

/** Region and credentials as the AWS SDK finds them: environment, profile, single sign-on. */
async function resolveCredentials(): Promise<Record<string, string>> {
  const { KMSClient } = await import('@aws-sdk/client-kms')
  const { config } = new KMSClient()
  try {
    const [region, credentials] = await Promise.all([config.region(), config.credentials()])
    return {
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      ...(credentials.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: credentials.sessionToken }),
    }
  } catch (error) {
    throw new OperationFailed(
      'neither region nor credentials of AWS were found: set AWS_REGION and AWS_PROFILE, or sign in',
      { cause: error },
    )
  }
}

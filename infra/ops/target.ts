import * as v from 'valibot'
import { environmentName, Settings } from '../../shared/settings.ts'
import { serviceName } from '../names.ts'
import { anyPrincipal } from '../signing-key-policy.ts'
import { OperationError } from './errors.ts'
import { forgetAwsSettings } from './forget-aws-settings.ts'

/** A deployment that operator commands work on, and how to reach it. */
export interface Target {
  stage: string
  /** Address of the API without a trailing slash; undefined if it is not known. */
  baseUrl: string | undefined
  /** Address of the authorization page; undefined if it is not known. */
  authUrl: string | undefined
  /** Whether a CloudFront distribution (edge) is in front of the API. */
  hasEdge: boolean
  /** Whether the stage has alarms. Alarms on KMS keys need a CloudTrail trail and a dead-letter queue. */
  hasAlarms: boolean
  /** Number of invocations that the account must be able to run at once; undefined for the local stack. */
  concurrentExecutions?: number
  /** URL of an endpoint that replaces AWS; undefined for a stage on AWS. */
  awsEndpoint: string | undefined
  /** Region of the deployment; undefined if the AWS SDK chooses it. */
  region: string | undefined
  /** The region to which a failover would go; undefined if there is none. */
  standbyRegion?: string | undefined
  /** Prefix of the names of all AWS resources of the deployment. */
  namePrefix: string
  tableName: string
  eventBusName: string
  settings: Settings
  /** ARNs of principals, besides the root user, that may disable, delete or share signing keys. */
  breakGlass: readonly string[]
}

/** Command-line options that choose the deployment. */
export interface TargetOptions {
  stage?: string | undefined
  /** URL of a local stack. Default: the URL of `npm start`. */
  url?: string | undefined
  baseUrl?: string | undefined
  /** Region of a stage. Default: the SDK's region, or after a failover the standby region. */
  region?: string | undefined
  /** Name of a table to use instead of the deployment's, for example one restored to a point in time. */
  table?: string | undefined
  /** Path of the file that `cdk deploy --outputs-file` wrote. Default: `cdk-outputs-STAGE.json`. */
  outputs?: string | undefined
}

/** Finds the deployment that the options name: a stage on AWS, or the local stack. */
export async function findTarget(options: TargetOptions): Promise<Target> {
  const { stage = 'local' } = options
  // stage-target.ts is imported only when needed, because it loads part of CDK.
  const target =
    stage === 'local'
      ? await findLocalStack(options)
      : (await import('./stage-target.ts')).findStage(stage, options)
  return { ...target, tableName: options.table ?? target.tableName }
}

/** Schema of the local stack's answer to GET /_local/stack. */
const Description = v.object({
  base_url: v.string(),
  auth_url: v.string(),
  aws_endpoint: v.string(),
  region: v.string(),
  event_bus: v.string(),
  table: v.string(),
  settings: v.record(v.string(), v.string()),
})

const defaultUrl = 'http://127.0.0.1:3000'

async function findLocalStack({ url, baseUrl }: TargetOptions): Promise<Target> {
  const described = await describeLocalStack(url ?? defaultUrl)
  return {
    stage: 'local',
    baseUrl: baseUrl ?? described.base_url,
    authUrl: described.auth_url,
    hasEdge: false,
    hasAlarms: false,
    awsEndpoint: described.aws_endpoint,
    region: described.region,
    namePrefix: '',
    tableName: described.table,
    eventBusName: described.event_bus,
    settings: v.parse(Settings, described.settings),
    breakGlass: [anyPrincipal],
  }
}

async function describeLocalStack(url: string): Promise<v.InferOutput<typeof Description>> {
  const address = `${url.replace(/\/$/, '')}/_local/stack`
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(10_000) })
    return v.parse(Description, await response.json())
  } catch (error) {
    throw new OperationError(
      `no local stack answers at ${address}: start it with \`npm start\`, name its address with --url, or a deployment with --stage`,
      { cause: error },
    )
  }
}

/**
 * Sets, in this process, the environment variables of the deployment's functions, so that the modules in
 * shared/ use this deployment. Import these modules only after this call, because some create AWS clients
 * when loaded.
 */
export async function enterTarget(target: Target): Promise<void> {
  if (target.awsEndpoint !== undefined) forgetAwsSettings()
  Object.assign(process.env, {
    TABLE_NAME: target.tableName,
    EVENT_BUS_NAME: target.eventBusName,
    SIGNING_KEY_TAG: serviceName(target.stage),
    ...Object.fromEntries(
      Object.entries(target.settings).map(([name, value]) => [environmentName(name), String(value)]),
    ),
    ...(target.awsEndpoint === undefined
      ? await resolveCredentials(target.region)
      : localCredentials(target.awsEndpoint, target.region)),
  })
}

/**
 * Credentials for the local stack: those of the environment, or placeholders if they are missing or empty, as
 * in a pipeline without its secrets. The local stack knows the credentials that it issued for its roles. With
 * any other credentials, a caller is the root user.
 */
const localCredentials = (endpoint: string, region = 'us-east-1') => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] || 'operator',
  AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] || 'local',
})

/** Resolves region and credentials as the AWS SDK does: environment, profile or single sign-on. */
async function resolveCredentials(known: string | undefined): Promise<Record<string, string>> {
  const { KMSClient } = await import('@aws-sdk/client-kms')
  const { config } = new KMSClient(known === undefined ? {} : { region: known })
  try {
    const [region, credentials] = await Promise.all([config.region(), config.credentials()])
    return {
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      ...(credentials.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: credentials.sessionToken }),
    }
  } catch (error) {
    throw new OperationError(
      'no AWS region or credentials were found: set AWS_REGION and AWS_PROFILE, or sign in',
      { cause: error },
    )
  }
}

import { environmentName, type Settings } from '../../shared/settings.ts'
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

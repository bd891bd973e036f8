/**
 * Every environment variable that the stacks give to functions, besides the settings (settings.ts). Stacks
 * and functions take the names from here, so that a misspelt name does not compile.
 */
export const environment = {
  TABLE_NAME: 'name of the table',
  EVENT_BUS_NAME: 'name of the event bus',
  BASE_URL: 'address of the API, which is the issuer',
  AUTH_URL: 'address of the authorization page',
  CORS_ORIGINS: 'origins from which browsers may call the API, separated by commas',
  SIGN_OUT_URL: 'address of the sign-out page; not set without one',
  MAC_KEY_IDS: 'ARNs of the KMS keys of MACs: passwords, client secrets, events that hold a secret',
  TOTP_KEY_ID: 'ARN of the KMS key that encrypts TOTP secrets',
  SIGNING_KEY_TAG: "value of the tag by which a deployment's signing keys are known",
  SIGNING_KEY_POLICY: 'key policy of new signing keys, as JSON, for the rotation',
  EVIDENCE_KEY_ID: 'ARN of the KMS key that signs the evidence of the rotation',
  EVIDENCE_COPIES: 'address of the bucket to which the rotation copies its evidence; not set without one',
  METRICS_NAMESPACE: 'CloudWatch namespace of the service’s own metrics',
  QUEUE_URL: 'the queue that feeds the function of an event or a worker',
  DEAD_LETTER_QUEUE_URL: 'the dead-letter queue of an event’s function',
  GROW_TREE_QUEUE_URL: 'the queue of the worker grow-tree',
  ORIGIN_SECRETS:
    'secrets of the edge, separated by commas: a request must carry one of them; not set without an edge',
  ROUTES: 'the methods of each path as JSON, for the function that answers unknown routes',
} as const
export type EnvironmentName = keyof typeof environment

/** Values of environment variables by name, as the stacks give them to a function. */
export type Environment = Partial<Record<EnvironmentName, string>>

/** Environment variables that AWS defines: Lambda sets the first three, and every AWS SDK reads the last. */
type AwsEnvironmentName = 'AWS_REGION' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_ENDPOINT_URL'

/** Reads an environment variable. If it is not set, throws an error that names it. */
export function requireEnv(name: EnvironmentName | AwsEnvironmentName): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`environment variable ${name} is not set`)
  return value
}

/** The issuer, `iss` of device_tokens: the base URL without trailing slash (OpenID Connect Discovery §3). */
export const issuer = (): string => requireEnv('BASE_URL').replace(/(?<!\/)\/+$/, '')

/** Name of the environment variable with the URL of a worker's queue: `grow-tree` → `GROW_TREE_QUEUE_URL`. */
export const queueUrlName = (worker: string): string =>
  `${worker.replaceAll('-', '_').toUpperCase()}_QUEUE_URL`

/** The `source` of events that this service sends. */
export const ownSource = 'account-service'

/**
 * The API has a stage variable that switches the service off. API Gateway passes stage variables with every
 * request. So a function reads the switch without an AWS call, even in a new execution environment.
 */
export const maintenanceVariable = 'maintenance'

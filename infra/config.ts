import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import * as v from 'valibot'
import { signingKeyTagName } from '../shared/keys/key-names.ts'
import { numeric, Settings } from '../shared/settings.ts'

/** Shortest time that a new signing key must be public before it signs: API Gateway's JWT authorizer may cache that long. */
const shortestPublishSeconds = 7_200

const flag = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false'])]),
  v.transform((value) => value === true || value === 'true'),
)
const url = v.pipe(v.string(), v.url())
/** A list, or the same as comma-separated text. */
const list = v.pipe(
  v.union([v.array(v.string()), v.string()]),
  v.transform((value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value)),
  v.transform((parts) => parts.filter((part) => part !== '')),
)
/** Tags by their names, or the same as text: `team=payments,cost-center=42`. */
const tags = v.pipe(
  v.union([v.record(v.string(), v.string()), v.string()]),
  v.transform((value) => (typeof value === 'string' ? readTags(value) : value)),
  v.record(
    v.pipe(
      v.string(),
      v.regex(/^(?!aws:)[\w .:/=+@-]{1,128}$/, 'must be a name that AWS takes for a tag'),
      v.notValues(
        ['service', 'stage', signingKeyTagName],
        // Whoever wears the tag of a signing key is managed as one.
        'is a tag that the service gives by itself',
      ),
    ),
    v.pipe(v.string(), v.regex(/^[\w .:/=+@-]{0,256}$/, 'must be a value that AWS takes for a tag')),
  ),
)

/**
 * Every knob of a deployment. A stage's values come from the context of cdk.json (`stages.NAME`) or, on a laptop,
 * from `--set NAME=VALUE`; what is not named keeps the default given here or in shared/settings.ts.
 */
export const Config = v.pipe(
  v.strictObject({
    ...Settings.entries,
    /** Name of the deployment. `local` is the laptop's. */
    stage: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,20}$/)),
    /** Whether the authorization page is deployed, behind CloudFront. */
    authorizationPage: v.optional(flag, false),
    /** Address of the page where the user signs in and consents; by default that of the page that is deployed. */
    authUrl: v.optional(url),
    /** Host name of the API, for example `api.example.com`; by default API Gateway's own address. It is the issuer of every token. */
    domainName: v.optional(v.pipe(v.string(), v.regex(/^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/))),
    /** ARN of the certificate for `domainName` in AWS Certificate Manager, in the region of the deployment. */
    certificateArn: v.optional(v.pipe(v.string(), v.regex(/^arn:[^:]+:acm:/))),
    /** Id of the Route 53 zone in which `domainName` is pointed at the API; without it that is up to you. */
    hostedZoneId: v.optional(v.pipe(v.string(), v.regex(/^Z[A-Z0-9]{1,31}$/))),
    /** Origins whose pages may call the API; by default that of the authorization page. */
    corsOrigins: v.optional(list),
    /** Whether data and keys survive a deleted stack and are protected from deletion. */
    protectData: v.optional(flag),
    /** Whether a new version of a function gets a tenth of the calls first, and none when it fails; by default where data is protected. */
    gradualDeployment: v.optional(flag),
    /** Whether requests are traced with X-Ray. */
    tracing: v.optional(flag, false),
    /** Requests a second that one route takes on average before the gateway answers 429. */
    throttleRate: v.optional(v.pipe(numeric, v.minValue(1)), 1_000),
    /** Requests that one route takes at once before the gateway answers 429. */
    throttleBurst: v.optional(v.pipe(numeric, v.integer(), v.minValue(1)), 2_000),
    /** ARN of the SNS topic that alarms are sent to; none by default. */
    alarmTopicArn: v.optional(v.pipe(v.string(), v.startsWith('arn:'))),
    /** ARN of who may take on the auditor's role; by default whoever the account's own policies let. */
    auditorPrincipalArn: v.optional(v.pipe(v.string(), v.startsWith('arn:'))),
    /** Tags that every resource carries beside `service` and `stage`. */
    tags: v.optional(tags, {}),
    /** Days that logs are kept. */
    logRetentionDays: v.optional(v.pipe(numeric, v.enum(RetentionDays)), RetentionDays.THREE_MONTHS),
  }),
  v.transform((config) => {
    const disposable = config.stage === 'local' || config.stage === 'dev'
    const protectData = config.protectData ?? !disposable
    return {
      ...config,
      protectData,
      gradualDeployment: config.gradualDeployment ?? protectData,
      /** Put before the name of every resource, so that stages share an account; the laptop has but one. */
      namePrefix: config.stage === 'local' ? '' : `${config.stage}-`,
    }
  }),
  v.check(
    ({ domainName, certificateArn }) => (domainName === undefined) === (certificateArn === undefined),
    'domainName and certificateArn go together: name both or neither',
  ),
  v.check(
    ({ domainName, hostedZoneId }) => hostedZoneId === undefined || domainName !== undefined,
    'hostedZoneId is for a domainName, and none is named',
  ),
  v.check(
    ({ stage, domainName }) => stage !== 'local' || domainName === undefined,
    'domainName is for deployments: the local stack answers at an address of the laptop',
  ),
  v.check(
    (config) => config.stage === 'local' || config.signingKeyPublishSeconds >= shortestPublishSeconds,
    `signingKeyPublishSeconds must be at least ${shortestPublishSeconds}`,
  ),
)
export type Config = v.InferOutput<typeof Config>

function readTags(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => /^\s*([^=]*)=?(.*?)\s*$/.exec(pair))
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
}

/** A stage's configuration, or an error that names every knob that is wrong. */
export function readConfig(values: Record<string, unknown>): Config {
  const result = v.safeParse(Config, values)
  if (result.success) return result.output
  const problems = result.issues.map(
    (issue) => `  ${v.getDotPath(issue) ?? 'configuration'}: ${issue.message}`,
  )
  throw new Error(`the configuration is not valid:\n${problems.join('\n')}`)
}

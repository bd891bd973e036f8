import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import * as v from 'valibot'
import { Flag, numeric, Settings } from '../shared/settings.ts'
import {
  CertificateArn,
  Edge,
  fitsEnvironment,
  List,
  Listeners,
  Principals,
  Senders,
  Standby,
  TopicArn,
  Url,
} from './knob-schemas.ts'
import { maxStageLength, namePrefix, serviceName } from './names.ts'
import { anyPrincipal } from './signing-key-policy.ts'

/**
 * Minimum time that a new signing key is published before it signs: API Gateway's JWT authorizer caches a
 * JWKS for up to two hours.
 */
const minPublishSeconds = 7_200

const isMacKey = (name: string) => /^MacKey\d*$/.test(name)

/**
 * The configuration of a deployment. Its values (knobs) come from cdk.json (context `stages.NAME`), or for
 * the local stack from `--set NAME=VALUE`. The defaults are here and in shared/settings.ts.
 */
export const Config = v.pipe(
  v.strictObject({
    ...Settings.entries,
    /** Name of the deployment; `local` is the local stack. */
    stage: v.pipe(
      v.string(),
      v.regex(
        /^[a-z][a-z0-9-]*$/,
        'must begin with a letter and have lower-case letters, digits and hyphens',
      ),
      v.maxLength(maxStageLength, `must have at most ${maxStageLength} characters`),
    ),
    /** URL of the page on which users sign in and consent. Default: this project deploys its own page. */
    authUrl: v.optional(Url),
    /**
     * URL of the page on which users sign out, the `end_session_endpoint`, for a stage with an `authUrl`.
     * Default: none with an `authUrl`, otherwise `/sign-out` of the page that this project deploys.
     */
    signOutUrl: v.optional(Url),
    /**
     * Host name of the API, for example `api.example.com`. It becomes the issuer of every token. Default: the
     * host name that API Gateway assigns.
     */
    domainName: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^([a-z0-9-]{1,63}\.)+([a-z]{2,63}|xn--[a-z0-9-]{1,59})$/, 'must be a host name, in ASCII'),
      ),
    ),
    /**
     * ARN of the certificate for `domainName` in AWS Certificate Manager: in us-east-1 if the stage has an
     * `edge`, otherwise in the deployment's region.
     */
    certificateArn: v.optional(CertificateArn),
    /**
     * Whether the only way to the API is the edge: CloudFront with a firewall (AWS WAF). A boolean, or an
     * object. `rate` (600): requests a minute from one IPv4 address; expensive routes allow fewer.
     * `secretNumber` (1): add one to rotate the secret that the edge sends to functions. `alarmTopicArn`:
     * topic for alarms in us-east-1.
     */
    edge: v.optional(Edge, false),
    /**
     * Origins from which browsers may call the API, besides the authorization page's, which always may:
     * https, or the scheme of an app, such as `capacitor://localhost`. On stages without `protectData` also
     * http on this machine, such as `http://localhost:*` for all ports.
     */
    corsOrigins: v.optional(v.pipe(List, fitsEnvironment), []),
    /**
     * Whether the table, the KMS keys and their stack are protected from deletion. Default: true, except for
     * the stages dev and local. Always false after a `failover`.
     */
    protectData: v.optional(Flag),
    /**
     * Names of the KMS keys for MACs of passwords and client secrets. The first key makes the MACs of new
     * passwords and secrets: see “A new MAC key” in the runbook.
     */
    macKeys: v.optional(
      v.pipe(
        List,
        v.minLength(1),
        v.everyItem(isMacKey, 'must be like MacKey2'),
        v.check((names) => new Set(names).size === names.length, 'must name each key once'),
      ),
      ['MacKey'],
    ),
    /**
     * Where the stage continues if its own region is lost. `region`, the standby region, has a replica of
     * the table and the keys. `certificateArn` and `alarmTopicArn` are for that region. Default: none.
     */
    standby: v.optional(Standby),
    /**
     * Deploys the stage in its standby region. The value is the name of the table there: the replica, or a
     * table restored from it. Set `failover` only when the stage's own region is lost. Default: none.
     */
    failover: v.optional(v.pipe(v.string(), v.minLength(3))),
    /**
     * Delay of the mailed code for a user who has an authenticator. A user who completes the sign-in sooner
     * gets no mail. At most 900, the longest delay of a queue. A delay over half of loginTicketTtlSeconds is
     * cut to that half. Default: 10, or 3 on the local stack, where somebody waits for the mail.
     */
    mailDelaySeconds: v.optional(v.pipe(numeric, v.integer(), v.minValue(0), v.maxValue(900))),
    /**
     * Requests per second that one route accepts on average; a burst may be twice as large. Further requests
     * get status 429.
     */
    throttleRate: v.optional(v.pipe(numeric, v.minValue(1)), 1_000),
    /** How many calls Lambda may run at once in this account and region; at 80 %, an alarm is raised. */
    concurrentExecutions: v.optional(v.pipe(numeric, v.integer(), v.minValue(10)), 1_000),
    /** Whether there are alarms and a dashboard. Default: true, except for the stages dev and local. */
    alarms: v.optional(Flag),
    /** ARN of the SNS topic that receives alarms. A stage with alarms must set it. */
    alarmTopicArn: v.optional(TopicArn),
    /**
     * ARNs of the IAM roles and users that may assume the auditor's role. Default: everyone in the account
     * whom IAM policies allow to do so.
     */
    auditors: v.optional(Principals),
    /**
     * ARNs of the IAM roles and users that may disable, delete or share signing keys. The root user always
     * may, and the rotation may always disable and delete keys. Default with `protectData`: nobody else.
     * Default without it: whoever IAM policies allow.
     */
    breakGlass: v.optional(v.pipe(Principals, fitsEnvironment)),
    /**
     * Whether the stage deploys a CloudTrail trail for the whole account, in a bucket whose files nobody can
     * delete for 400 days. The bucket also gets copies of the key rotation's evidence (signed records). Where
     * another trail exists, this knob is needed only for the copies.
     */
    auditTrail: v.optional(Flag, false),
    /**
     * Who may send events of each `source` (`business`, `chain`, `rewards`, `operator`): ARNs of IAM roles
     * and users, also of other accounts. Nobody else may send these events. For a source that is left out,
     * the account's IAM policies decide who may send.
     */
    senders: v.optional(Senders, {}),
    /**
     * Who else listens to the outcomes of events: ARNs of event buses, for example of other accounts, by a
     * name of your own. Rules in the stage's account can listen without this knob.
     */
    listeners: v.optional(Listeners, {}),
    /** Days after which log lines are deleted. */
    logRetentionDays: v.optional(v.pipe(numeric, v.enum(RetentionDays)), RetentionDays.THREE_MONTHS),
  }),
  v.transform((config) => {
    const disposable = config.stage === 'local' || config.stage === 'dev'
    const protectData = config.protectData ?? !disposable
    const alarms = config.alarms ?? !disposable
    return {
      ...config,
      ...(config.failover ? inStandbyRegion(config.standby) : {}),
      // Turns the protection off after a failover. A protected bus, archive or log group would outlive its
      // stack, and its name would block the next failover.
      protectData: protectData && !config.failover,
      alarms,
      breakGlass: config.breakGlass ?? (protectData ? [] : [anyPrincipal]),
      mailDelaySeconds: config.mailDelaySeconds ?? (config.stage === 'local' ? 3 : 10),
      namePrefix: namePrefix(config.stage),
      serviceName: serviceName(config.stage),
    }
  }),
  v.check(
    ({ domainName, certificateArn }) => (domainName === undefined) === (certificateArn === undefined),
    'domainName and certificateArn go together: set both or neither',
  ),
  v.check(
    ({ domainName, standby }) =>
      domainName === undefined || standby === undefined || standby.certificateArn !== undefined,
    'standby needs a certificateArn, because the stage has a domainName',
  ),
  v.check(
    ({ alarms, alarmTopicArn }) => !alarms || alarmTopicArn !== undefined,
    'alarmTopicArn is missing: the SNS topic that alarms notify; a stage that nobody watches has "alarms": false',
  ),
  v.check(
    ({ alarms, standby }) => !alarms || standby === undefined || standby.alarmTopicArn !== undefined,
    'standby needs an alarmTopicArn of its region, because the stage has alarms',
  ),
  v.check(
    ({ standby, failover }) => failover === undefined || standby !== undefined,
    'failover needs a standby region',
  ),
  v.check(
    ({ stage, domainName }) => stage !== 'local' || domainName === undefined,
    'domainName is for deployments: the local stack has a local address',
  ),
  v.check(
    ({ stage, edge }) => stage !== 'local' || edge === false,
    'edge is for deployments: the local stack has no CloudFront',
  ),
  v.check(
    ({ edge, certificateArn }) =>
      edge === false || certificateArn === undefined || /^arn:[^:]+:acm:us-east-1:/.test(certificateArn),
    'certificateArn must be in us-east-1, because edge is on: CloudFront takes certificates from there only',
  ),
  v.check(
    (config) => config.stage === 'local' || config.signingKeyPublishSeconds >= minPublishSeconds,
    `signingKeyPublishSeconds must be at least ${minPublishSeconds}`,
  ),
  v.check(
    ({ stage, authUrl }) => stage === 'local' || authUrl === undefined || authUrl.startsWith('https://'),
    'authUrl must begin with https://',
  ),
  v.check(
    ({ authUrl, signOutUrl }) => signOutUrl === undefined || authUrl !== undefined,
    'signOutUrl goes with authUrl: the page that this project deploys has its own /sign-out',
  ),
  v.check(
    ({ stage, signOutUrl }) =>
      stage === 'local' || signOutUrl === undefined || signOutUrl.startsWith('https://'),
    'signOutUrl must begin with https://',
  ),
  v.check(
    ({ stage, corsOrigins, protectData }) =>
      corsOrigins.every((origin) => isOrigin(origin, stage, protectData)),
    'corsOrigins must be origins such as https://app.example.com or capacitor://localhost, without a path; http only on this machine, on stages without protectData',
  ),
)
export type Config = v.InferOutput<typeof Config>

/**
 * The configuration that differs in a standby region. There is no edge: the old edge still holds the domain,
 * and a new firewall would need us-east-1, which may be lost.
 */
const inStandbyRegion = (place: v.InferOutput<typeof Standby> | undefined) => ({
  certificateArn: place?.certificateArn,
  alarmTopicArn: place?.alarmTopicArn,
  edge: false as const,
})

/**
 * Returns the region of a deployment: the standby region after a failover, otherwise the given one. Throws a
 * ConfigError if the stage would run in the standby region without a failover: two regions must not serve one
 * table.
 */
export function deploymentRegion(
  { standby: place, failover }: Config,
  commandLine: string | undefined,
): string {
  if (failover && place !== undefined) return place.region
  const region = commandLine ?? 'us-east-1'
  if (region === place?.region)
    throw new ConfigError(
      `${region} is the standby region of this stage: name its own by AWS_REGION, or set "failover" when that is lost`,
    )
  return region
}

/** The scheme of an app and a host: no scheme whose pages come from anywhere, or have the origin `null`. */
const appOrigin = /^(?!https?:|file:|data:|blob:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(:\d{1,5})?$/

const loopbackOrigin = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:(\d{1,5}|\*))?$/

/** Whether browsers send this text as `Origin` (WHATWG HTML §7.1.1), and a stage may trust it. */
function isOrigin(text: string, stage: string, protectData: boolean): boolean {
  if (appOrigin.test(text) || (loopbackOrigin.test(text) && !protectData)) return true
  const isTrusted = text.startsWith('https://') || (stage === 'local' && text.startsWith('http://'))
  return isTrusted && !text.includes('*') && URL.parse(text)?.origin === text
}

/** Thrown for a configuration that cannot be deployed; the message names every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The error for a missing `mailFrom`, which has no default: mails from a default sender would not arrive. */
const mailFrom =
  '  missing: "mailFrom": "no-reply@YOUR-DOMAIN", the sender of its mails, which SES must have verified'

/** Validates the knobs of a stage and fills in defaults. Throws a ConfigError that names every problem. */
export function readConfig(values: Record<string, unknown>): Config {
  const { stage } = values
  const missing = stage === 'local' || values['mailFrom'] !== undefined ? [] : [mailFrom]
  const result = v.safeParse(Config, values)
  if (result.success && missing.length === 0) return result.output
  const invalid = (result.issues ?? []).map(
    (issue) => `  ${v.getDotPath(issue) ?? 'configuration'}: ${issue.message}`,
  )
  const problems = [...invalid, ...missing]
  const place =
    stage === 'local' ? '' : `; write it under "stages", "${String(stage)}" in cdk.json (infra/DEPLOYMENT.md)`
  throw new ConfigError(`the configuration is not valid${place}:\n${problems.join('\n')}`)
}

/** The CDK context `stages`: an object from cdk.json, or JSON text from the command line (`-c stages=…`). */
const Stages = v.pipe(
  v.union([v.pipe(v.string(), v.parseJson()), v.unknown()]),
  v.record(v.string(), v.record(v.string(), v.unknown())),
)

/**
 * Reads the configuration of a stage in cdk.json. Throws a ConfigError for malformed `stages`, for an unknown
 * stage, because a mistyped name must not deploy a stage with default values, and for `local`: deployed, it
 * would have no floors, take events from any source, and send users to a page on their own machine.
 */
export function readStageConfig(stage: string, stages: unknown): Config {
  if (stage === 'local')
    throw new ConfigError('the stage local is the local stack (`npm start`): give a deployment another name')
  const parsed = v.safeParse(Stages, stages)
  if (!parsed.success)
    throw new ConfigError('the context `stages` must be a JSON object with an object for each stage')
  const known = parsed.output
  const values = known[stage]
  if (values === undefined)
    throw new ConfigError(`cdk.json has no stage ${stage}; it has ${Object.keys(known).join(', ') || 'none'}`)
  return readConfig({ ...values, stage })
}

/** Reads the configuration of the stage that the CDK context names (`-c stage=NAME`), `dev` by default. */
export const chooseStage = (context: (name: string) => unknown): Config =>
  readStageConfig(v.parse(v.optional(v.string(), 'dev'), context('stage')), context('stages') ?? {})

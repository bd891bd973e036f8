import { App } from 'aws-cdk-lib'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { makeBundleDirectories } from '../bundle/functions.ts'
import { readConfig } from '../config.ts'
import { addStacks } from '../stacks/add-stacks.ts'
import { markdownTable } from './markdown.ts'

type Properties = Record<string, unknown>
type Price = [what: string, dollars: (properties: Properties) => number]

const monthSeconds = 30 * 86_400

/**
 * Requests that Lambda sends to an empty queue in a month. With a maximum concurrency, five pollers send
 * requests that wait 20 seconds each (Lambda: Configuring scaling behavior for SQS event source mappings).
 */
const polls = (5 * monthSeconds) / 20

/** Dollars that a scheduled run costs: 0.1 s at 512 MB, three read units, a write unit, two log lines. */
const dollarsOfRun = 2.7e-6

const count = (value: unknown, pattern: RegExp): number => JSON.stringify(value).match(pattern)?.length ?? 0

/** Prices of resources that nobody uses, by type, dollars a month (AWS's pricing pages, us-east-1, 2026). */
const prices: Record<string, Price> = {
  // Each of a key's first two rotations adds a dollar a month; further ones add nothing.
  'KMS::Key': [
    'KMS keys and their yearly rotations',
    ({ EnableKeyRotation: rotates, RotationPeriodInDays: days = 365 }) => (rotates && days === 365 ? 3 : 1),
  ],
  'KMS::ReplicaKey': ['replicas of keys', () => 1],
  'CloudWatch::Alarm': ['metrics of alarms', (alarm) => 0.1 * count(alarm, /"MetricName"/g)],
  'CloudWatch::CompositeAlarm': ['alarms of journeys', () => 0.5],
  // Three dashboards of up to 50 metrics are free in each account.
  'CloudWatch::Dashboard': ['dashboard', (body) => (count(body, /AWS\/|SEARCH/g) > 50 ? 3 : 0)],
  'Lambda::EventSourceMapping': ['pollers of empty queues', () => polls * 0.4e-6],
  'Events::Rule': [
    'scheduled runs',
    (rule) => (rule['ScheduleExpression'] ? monthSeconds / 60 : 0) * dollarsOfRun,
  ],
  'WAFv2::WebACL': ['firewall', ({ Rules: rules }) => 5 + (rules as unknown[]).length],
  'SecretsManager::Secret': ['secrets', () => 0.4],
}

/** Types of resources that cost nothing while nobody uses them. */
const free =
  /^(ApiGatewayV2|CloudFront|CloudTrail|DynamoDB|IAM|Logs|S3|SQS)::|^Events::(Archive|EventBus)|^Lambda::(?!EventS)/

/** Returns the price of a type of resource; undefined if it is free. Throws if the type is unknown here. */
export function priceOf(type: string): Price | undefined {
  const price = prices[type.replace('AWS::', '')]
  if (price || free.test(type.replace('AWS::', ''))) return price
  throw new Error(`${type} has no price in infra/catalogue/idle-cost.ts`)
}

/** Dollars per month for a stage that nobody uses, by kind of cost. */
export async function readIdleCost(stage: string, values: Properties = {}): Promise<Map<string, number>> {
  const alarmTopicArn = 'arn:aws:sns:us-east-1:123456789012:alarms'
  const required = { mailFrom: 'no-reply@example.com', authUrl: 'https://auth.example.com/', alarmTopicArn }
  const config = readConfig({ ...required, ...values, stage })
  makeBundleDirectories()
  const context = { ...cdkJson.context, 'aws:cdk:disable-asset-staging': true }
  const app = new App({ context, analyticsReporting: false, builtinCloudFormationValidation: false })
  await addStacks(app, config, 'us-east-1')
  const extraSeconds =
    config.signingKeyPublishSeconds + config.accessTokenTtlSeconds + config.signingKeyRetireMarginSeconds
  const costs = new Map([
    // A key that waits for its deletion costs nothing.
    ['signing keys, on average', 1 + extraSeconds / 86_400 / config.signingKeyRotationDays],
    // There are three metrics: RotationOverdueSeconds, LedgerVerificationAge and LedgerDifferences.
    ['metrics of the schedules', 3 * 0.3],
  ])
  for (const { template } of app.synth().stacks)
    for (const { Type: type, Properties: properties = {} } of Object.values(
      (template as { Resources: Record<string, { Type: string; Properties?: Properties }> }).Resources,
    )) {
      const [what, dollars] = priceOf(type) ?? []
      if (what && dollars) costs.set(what, (costs.get(what) ?? 0) + dollars(properties))
    }
  const together = [...costs.values()].reduce((sum, dollars) => sum + dollars, 0)
  return costs.set('together', together)
}

/** Markdown table of what the stages `dev` and `prod` cost in a month in which nobody uses them. */
export async function describeIdleCost(): Promise<string> {
  const [dev, prod] = [await readIdleCost('dev'), await readIdleCost('prod')]
  const dollars = (costs: Map<string, number>, what: string) => `$${(costs.get(what) ?? 0).toFixed(2)}`
  const names = [...prod.keys()].filter((what) => prod.get(what))
  const rows = names.map((what) => [what, dollars(dev, what), dollars(prod, what)])
  return markdownTable(['what', '`dev`', '`prod`'], rows)
}

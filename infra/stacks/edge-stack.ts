import { CfnOutput, Duration, Fn, Stack, type StackProps } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import { Failure, type FailureName, statusOf } from '../../shared/errors.ts'
import { maximumBodyBytes } from '../../shared/http/request.ts'
import { commonHeaders, fail } from '../../shared/http/reply.ts'
import type { Config } from '../config.ts'
import type { EdgeOptions } from '../knob-schemas.ts'
import { addAlarms, type AlarmSpec } from '../constructs/add-alarms.ts'
import { type Route, routes } from '../routes.ts'

/** The region in which CloudFront looks for firewalls and certificates. */
const edgeRegion = 'us-east-1'

/** Seconds over which WAF counts the requests of an IP address: the shortest period that WAF allows. */
const windowSeconds = 60

/** The lowest limit that WAF accepts for a rate rule. */
const minLimit = 10

interface EdgeStackProps extends StackProps {
  config: Config
  options: EdgeOptions
  /** Region of the deployment, used in names: one account may have the stage in several regions. */
  deploymentRegion: string
}

/**
 * The firewall of the edge (CloudFront distribution). The firewall blocks IP addresses that send too many
 * requests, so that no single client uses up the API's rate limit. Its answers have the service's envelope.
 */
export class EdgeStack extends Stack {
  readonly webAclArn: string

  constructor(scope: Construct, id: string, { config, options, deploymentRegion, ...props }: EdgeStackProps) {
    super(scope, id, { ...props, env: { region: edgeRegion } })
    const name = `${config.serviceName}-${deploymentRegion}`
    const webAcl = new CfnWebACL(this, 'Firewall', {
      name,
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visibility(name),
      customResponseBodies: {
        too_large: body('too_large'),
        too_many_requests: body('too_many_requests'),
      },
      // WAF sees 16 KiB of a body by default. The limit set here lets it see as much as the service accepts.
      associationConfig: { requestBody: { CLOUDFRONT: { defaultSizeInspectionLimit: 'KB_64' } } },
      rules: rules(options.rate).map((rule, priority) => ({ ...rule, priority })),
    })
    // CloudFormation reads this output across regions when it creates or updates the API's stack.
    const output = new CfnOutput(this, 'WebAclArn', { value: webAcl.attrArn })
    this.webAclArn = Fn.getStackOutput(this.stackName, output.logicalId, edgeRegion)
    if (config.alarms) addAlarms(this, options.alarmTopicArn, [refusals(config, deploymentRegion, name)])
  }
}

/** The alarm on the firewall. It is in this stack, because alarms can watch only metrics of their region. */
const refusals = ({ namePrefix }: Config, region: string, webAclName: string): AlarmSpec => ({
  id: 'edge-refusals',
  name: `${namePrefix}edge-refusals-${region}`,
  meaning: 'At least ten requests a second are refused at the edge.',
  runbook: 'edge-refusals',
  metric: new Metric({
    namespace: 'AWS/WAFV2',
    metricName: 'BlockedRequests',
    dimensionsMap: { WebACL: webAclName, Rule: 'ALL' },
    statistic: 'Sum',
    period: Duration.minutes(5),
  }),
  threshold: 3_000,
})

type Rule = Omit<CfnWebACL.RuleProperty, 'priority'>
type Statement = CfnWebACL.StatementProperty

/** The rules in the order in which WAF tries them: size, expensive routes, all routes. */
function rules(rate: number): Rule[] {
  const shares = Map.groupBy(
    routes.filter(({ throttleShare = 1 }) => throttleShare < 1),
    ({ throttleShare = 1 }) => throttleShare,
  )
  return [
    block('too_large', 'body-size', {
      sizeConstraintStatement: {
        // If WAF cannot see a body in full, the body is too large for the service, so the rule matches.
        fieldToMatch: { body: { oversizeHandling: 'MATCH' } },
        comparisonOperator: 'GT',
        size: maximumBodyBytes,
        textTransformations: unchanged,
      },
    }),
    ...[...shares].map(([share, expensive]) =>
      block(
        'too_many_requests',
        `rate-${Math.round(share * 100)}-percent`,
        limitSource(rate * share, anyOf(expensive)),
      ),
    ),
    block('too_many_requests', 'rate', limitSource(rate)),
  ]
}

/** Limits the requests of one IPv4 address; the distribution does not accept IPv6. */
const limitSource = (limit: number, scopeDownStatement?: Statement): Statement => ({
  rateBasedStatement: {
    aggregateKeyType: 'IP',
    evaluationWindowSec: windowSeconds,
    limit: Math.max(minLimit, Math.round(limit)),
    ...(scopeDownStatement ? { scopeDownStatement } : {}),
  },
})

/** Matches any of these routes. WAF refuses an `or` with a single statement. */
function anyOf(expensive: Route[]): Statement {
  const statements = expensive.map(matchRoute)
  const [only] = statements
  return statements.length === 1 && only ? only : { orStatement: { statements } }
}

const matchRoute = ({ method, path }: Route): Statement => ({
  andStatement: {
    statements: [
      matchExactly({ method: {} }, method, unchanged),
      // Decodes the path, so that a client cannot bypass the rule with a percent-encoded path.
      matchExactly({ uriPath: {} }, path, [{ priority: 0, type: 'URL_DECODE' }]),
    ],
  },
})

const matchExactly = (
  fieldToMatch: CfnWebACL.FieldToMatchProperty,
  searchString: string,
  textTransformations: CfnWebACL.TextTransformationProperty[],
): Statement => ({
  byteMatchStatement: { fieldToMatch, searchString, positionalConstraint: 'EXACTLY', textTransformations },
})

const unchanged: CfnWebACL.TextTransformationProperty[] = [{ priority: 0, type: 'NONE' }]

/** A rule that blocks requests. It answers them with a failure in the service's envelope and headers. */
const block = (failure: FailureName, name: string, statement: Statement): Rule => ({
  name,
  statement,
  visibilityConfig: visibility(name),
  action: {
    block: {
      customResponse: {
        responseCode: statusOf(failure),
        customResponseBodyKey: failure,
        responseHeaders: Object.entries({
          ...commonHeaders,
          // Scripts of any origin may read this answer, because it contains nothing private.
          'access-control-allow-origin': '*',
          'access-control-expose-headers': 'retry-after',
          ...(failure === 'too_many_requests' ? { 'retry-after': String(windowSeconds) } : {}),
        }).map(([header, value]) => ({ name: header, value })),
      },
    },
  },
})

const body = (failure: FailureName): CfnWebACL.CustomResponseBodyProperty => ({
  contentType: 'APPLICATION_JSON',
  content: fail(new Failure(failure), 'envelope').body ?? '',
})

/** Counts matches in CloudWatch, but keeps no samples of requests, which would show tokens in the console. */
const visibility = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
})

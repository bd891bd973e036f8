import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { routes } from '../../../infra/routes.ts'
import { EdgeStack } from '../../../infra/stacks/edge-stack.ts'
import { configured } from '../../support/configured-stage.ts'

interface ByteMatch {
  ByteMatchStatement: {
    SearchString: string
    PositionalConstraint: string
    TextTransformations: { Type: string }[]
  }
}
interface Matched {
  AndStatement?: { Statements: ByteMatch[] }
  OrStatement?: { Statements: Matched[] }
}
interface RateRule {
  AggregateKeyType: string
  EvaluationWindowSec: number
  Limit: number
  ScopeDownStatement?: Matched
}
interface Visibility {
  MetricName: string
  CloudWatchMetricsEnabled: boolean
  SampledRequestsEnabled: boolean
}
interface Rule {
  Name: string
  Priority: number
  Statement: { RateBasedStatement?: RateRule; SizeConstraintStatement?: unknown }
  Action: {
    Block: {
      CustomResponse: {
        ResponseCode: number
        CustomResponseBodyKey: string
        ResponseHeaders: { Name: string; Value: string }[]
      }
    }
  }
  VisibilityConfig: Visibility
}
interface WebAcl {
  Name: string
  Scope: string
  DefaultAction: unknown
  AssociationConfig: unknown
  VisibilityConfig: Visibility
  CustomResponseBodies: Record<string, { ContentType: string; Content: string }>
  Rules: Rule[]
}

/** Synthesizes the stack of the firewall alone. */
function readFirewall(values = {}, deploymentRegion = 'eu-central-1') {
  const app = new App({ builtinCloudFormationValidation: false })
  const config = readConfig({ stage: 'prod', edge: true, ...configured, ...values })
  const options = config.edge || expect.unreachable()
  const stack = new EdgeStack(app, 'edge', { config, options, deploymentRegion })
  const template = Template.fromStack(stack)
  const [webAcl] = Object.values(template.findResources('AWS::WAFv2::WebACL'))
  const [alarm] = Object.values(template.findResources('AWS::CloudWatch::Alarm'))
  return {
    ...(webAcl?.['Properties'] as WebAcl),
    region: stack.region,
    alarm: alarm?.['Properties'] as object,
  }
}

const firewall = readFirewall()

/** The method and path of every route that a rule is limited to. */
const routesOf = (rule: Matched = {}): string[] =>
  rule.OrStatement?.Statements.flatMap(routesOf) ??
  [(rule.AndStatement?.Statements ?? []).map((one) => one.ByteMatchStatement.SearchString).join(' ')].filter(
    (route) => route !== '',
  )

const rateRules = (rules: Rule[]) =>
  rules.flatMap(({ Statement: { RateBasedStatement: rate } }) => (rate ? [rate] : []))

describe('the firewall of the edge', () => {
  it('is where CloudFront looks for it, under a name that differs from those of other stages and regions', () => {
    expect(firewall).toMatchObject({
      Scope: 'CLOUDFRONT',
      Name: 'account-service-prod-eu-central-1',
      DefaultAction: { Allow: {} },
      region: 'us-east-1',
    })
    expect(readFirewall({}, 'eu-west-1').Name).toBe('account-service-prod-eu-west-1')
  })

  it('limits every source: on all routes together, and on expensive ones to their share of the throttle', () => {
    const limits = rateRules(firewall.Rules).map(({ Limit: limit, ScopeDownStatement: scope }) => ({
      limit,
      routes: routesOf(scope).toSorted(),
    }))
    const expensive = (share: number) =>
      routes
        .filter(({ throttleShare }) => throttleShare === share)
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted()
    expect(limits).toEqual([
      { limit: 180, routes: expensive(0.3) },
      { limit: 12, routes: ['GET /community/members/export'] },
      { limit: 600, routes: [] },
    ])
    expect(limits[0]?.routes).toContain('POST /user/login-with-password')
    for (const rule of rateRules(firewall.Rules))
      expect(rule).toMatchObject({ AggregateKeyType: 'IP', EvaluationWindowSec: 60 })
  })

  it('finds an expensive route however its path is encoded', () => {
    const matches = JSON.stringify(rateRules(firewall.Rules)).match(/"UriPath":\{\}.*?"Type":"\w+"/g) ?? []
    expect(matches.length).toBeGreaterThan(5)
    for (const match of matches) expect(match).toContain('"Type":"URL_DECODE"')
  })

  it('never asks WAF for a limit below its least', () => {
    const { Rules: rules } = readFirewall({ edge: { rate: 20 } })
    expect(rateRules(rules).map(({ Limit: limit }) => limit)).toEqual([10, 10, 20])
  })

  it('refuses first a body that the service would refuse, also one of which WAF sees only the beginning', () => {
    expect(firewall.AssociationConfig).toEqual({
      RequestBody: { CLOUDFRONT: { DefaultSizeInspectionLimit: 'KB_64' } },
    })
    expect(firewall.Rules.toSorted((a, b) => a.Priority - b.Priority)[0]?.Statement).toMatchObject({
      SizeConstraintStatement: {
        ComparisonOperator: 'GT',
        Size: 65_536,
        FieldToMatch: { Body: { OversizeHandling: 'MATCH' } },
      },
    })
  })

  it('answers 413 and 429 as the service does: the envelope, its headers, and Retry-After for 429', () => {
    const answers = firewall.Rules.map(({ Action: { Block: block } }) => {
      const { ResponseCode: status, CustomResponseBodyKey: key, ResponseHeaders: sent } = block.CustomResponse
      const { ContentType: type, Content: content } = firewall.CustomResponseBodies[key] ?? {}
      const headers = Object.fromEntries(sent.map(({ Name: name, Value: value }) => [name, value]))
      expect(type).toBe('APPLICATION_JSON')
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'access-control-allow-origin': '*',
      })
      return { status, body: JSON.parse(content ?? '') as unknown, retryAfter: headers['retry-after'] }
    })
    const tooLarge = { code: 41300, msg: 'the request body is over 64 KiB', data: null }
    const tooMany = { code: 42900, msg: 'too many requests, try again later', data: null }
    expect(answers).toEqual([
      { status: 413, body: tooLarge, retryAfter: undefined },
      ...[1, 2, 3].map(() => ({ status: 429, body: tooMany, retryAfter: '60' })),
    ])
  })

  it('keeps no samples of requests, which would show tokens in the console', () => {
    expect(JSON.stringify(firewall)).not.toContain('"SampledRequestsEnabled":true')
    for (const { VisibilityConfig: visibility } of firewall.Rules)
      expect(visibility.SampledRequestsEnabled).toBe(false)
  })

  it('raises an alarm in its own region, on what WAF counts of a CloudFront distribution there', () => {
    const topic = 'arn:aws:sns:us-east-1:123456789012:alarms'
    const { alarm, region } = readFirewall({ edge: { alarmTopicArn: topic } })
    expect(region).toBe('us-east-1')
    expect(alarm).toMatchObject({
      AlarmName: 'account-service-prod-edge-refusals-eu-central-1',
      Namespace: 'AWS/WAFV2',
      MetricName: 'BlockedRequests',
      // WAF counts sums only, and only where there is something to count.
      Statistic: 'Sum',
      TreatMissingData: 'notBreaching',
      // Ten a second.
      Period: 300,
      Threshold: 3_000,
      AlarmActions: [topic],
    })
    // With the dimension Region, which WAF has for regional resources only, there would be no data.
    expect(alarm).toHaveProperty('Dimensions', [
      { Name: 'Rule', Value: 'ALL' },
      { Name: 'WebACL', Value: firewall.VisibilityConfig.MetricName },
    ])
  })
})

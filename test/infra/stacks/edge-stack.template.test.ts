import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { routes } from '../../../infra/routes.ts'
import { EdgeStack } from '../../../infra/stacks/edge-stack.ts'
import { configured } from '../../support/configured-stage.ts'

interface RateRule {
  AggregateKeyType: string
  EvaluationWindowSec: number
  Limit: number
  ScopeDownStatement?: object
}
interface Rule {
  Statement: { RateBasedStatement?: RateRule }
  Action: {
    Block: {
      CustomResponse: {
        ResponseCode: number
        CustomResponseBodyKey: string
        ResponseHeaders: { Name: string; Value: string }[]
      }
    }
  }
}
interface WebAcl {
  Name: string
  CustomResponseBodies: Record<string, { Content: string }>
  Rules: Rule[]
}

function readFirewall(values = {}) {
  const app = new App({ builtinCloudFormationValidation: false })
  const config = readConfig({ stage: 'prod', edge: true, ...configured, ...values })
  const options = config.edge || expect.unreachable()
  const stack = new EdgeStack(app, 'edge', { config, options, deploymentRegion: 'eu-central-1' })
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

/** The routes (method and path) that a rate rule names. A rule on all requests names none. */
const routesOf = (rule: object | undefined): string[] => {
  const searched = JSON.stringify(rule ?? {}).matchAll(/"SearchString":"([^"]+)"/g)
  const words = [...searched].map(([, word = '']) => word)
  return words.flatMap((word, i) => (i % 2 === 0 ? [`${word} ${words[i + 1] ?? ''}`] : [])).toSorted()
}

const rateRules = (rules: Rule[]) => rules.flatMap(({ Statement }) => Statement.RateBasedStatement ?? [])

describe('the firewall of the CloudFront distribution', () => {
  it('the firewall is in us-east-1, where CloudFront needs it, named after the stage’s region', () => {
    expect(firewall).toMatchObject({
      Scope: 'CLOUDFRONT',
      Name: 'account-service-prod-eu-central-1',
      DefaultAction: { Allow: {} },
      region: 'us-east-1',
    })
  })

  it('the firewall allows an IP address 600 requests a minute, a share of them on costly routes', () => {
    const limits = rateRules(firewall.Rules).map(({ Limit: limit, ScopeDownStatement: scope }) => ({
      limit,
      routes: routesOf(scope),
    }))
    const expensive = routes.filter(({ throttleShare }) => throttleShare === 0.3)
    const exports = routes.filter(({ path }) => path.endsWith('/export'))
    expect(exports).toHaveLength(3)
    expect(limits).toEqual([
      { limit: 180, routes: expensive.map(({ method, path }) => `${method} ${path}`).toSorted() },
      { limit: 12, routes: exports.map(({ method, path }) => `${method} ${path}`).toSorted() },
      { limit: 600, routes: [] },
    ])
    for (const rule of rateRules(firewall.Rules))
      expect(rule).toMatchObject({ AggregateKeyType: 'IP', EvaluationWindowSec: 60 })
  })

  it('the firewall’s rate rules match the path of an expensive route in any URL encoding', () => {
    const matches = JSON.stringify(rateRules(firewall.Rules)).match(/"UriPath":\{\}.*?"Type":"\w+"/g) ?? []
    expect(matches.length).toBeGreaterThan(5)
    for (const match of matches) expect(match).toContain('"Type":"URL_DECODE"')
  })

  it('no rate rule of the firewall has a limit below WAF’s minimum', () => {
    const { Rules: rules } = readFirewall({ edge: { rate: 20 } })
    expect(rateRules(rules).map(({ Limit: limit }) => limit)).toEqual([10, 10, 20])
  })

  it('the firewall’s first rule refuses a too large body, even if WAF sees only its beginning', () => {
    expect(firewall).toMatchObject({
      AssociationConfig: { RequestBody: { CLOUDFRONT: { DefaultSizeInspectionLimit: 'KB_64' } } },
    })
    expect(firewall.Rules[0]).toMatchObject({
      Priority: 0,
      Statement: {
        SizeConstraintStatement: {
          ComparisonOperator: 'GT',
          Size: 65_536,
          FieldToMatch: { Body: { OversizeHandling: 'MATCH' } },
        },
      },
    })
  })

  it('the firewall answers 413 and 429 as the service does, headers and envelope', () => {
    const answers = firewall.Rules.map(({ Action: { Block: block } }) => {
      const { ResponseCode: status, CustomResponseBodyKey: key, ResponseHeaders: sent } = block.CustomResponse
      const headers = Object.fromEntries(sent.map(({ Name: name, Value: value }) => [name, value]))
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'access-control-allow-origin': '*',
      })
      const body: unknown = JSON.parse(firewall.CustomResponseBodies[key]?.Content ?? '')
      return { status, body, retryAfter: headers['retry-after'] }
    })
    const tooLarge = { code: 41300, msg: 'the request body is over 64 KiB', data: null }
    const tooMany = { code: 42900, msg: 'too many requests, try again later', data: null }
    expect(answers).toEqual([
      { status: 413, body: tooLarge, retryAfter: undefined },
      ...[1, 2, 3].map(() => ({ status: 429, body: tooMany, retryAfter: '60' })),
    ])
  })

  it('the firewall keeps no samples of requests, which would show tokens in the console', () => {
    const written = JSON.stringify(firewall)
    expect(written.match(/"SampledRequestsEnabled":false/g)).toHaveLength(firewall.Rules.length + 1)
  })

  it('the firewall’s alarm is in us-east-1, where WAF publishes the metrics for CloudFront distributions', () => {
    const topic = 'arn:aws:sns:us-east-1:123456789012:alarms'
    expect(readFirewall({ edge: { alarmTopicArn: topic } }).alarm).toMatchObject({
      AlarmName: 'account-service-prod-edge-refusals-eu-central-1',
      Namespace: 'AWS/WAFV2',
      MetricName: 'BlockedRequests',
      // WAF sets the dimension Region only for regional resources. An alarm with this dimension would get no
      // data.
      Dimensions: [
        { Name: 'Rule', Value: 'ALL' },
        { Name: 'WebACL', Value: firewall.Name },
      ],
      Statistic: 'Sum',
      Period: 300,
      Threshold: 3_000,
      AlarmActions: [topic],
    })
  })
})

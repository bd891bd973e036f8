import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../infra/bundle/page.ts'
import { bundleFunctions } from '../../infra/bundle/functions.ts'
import { routes } from '../../infra/routes.ts'
import { loadEndpoint } from '../support/call-endpoint.ts'
import { standby } from '../support/configured-stage.ts'
import { ofType, type Stacks, synthesize, synthesizeUnchecked } from './stacks/synthesize.ts'

interface Statement {
  Action: string | string[]
  Resource: unknown
  Effect: string
  Condition?: Record<string, Record<string, unknown>>
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value])

const runbook = readFileSync(join(import.meta.dirname, '../../infra/RUNBOOK.md'), 'utf8')

let stacks: Stacks

beforeAll(async () => {
  // Importing a function creates its AWS clients, which need a region.
  process.env['AWS_REGION'] ??= 'us-east-1'
  await Promise.all([bundleFunctions(), bundleAuthorizationPage()])
  stacks = await synthesize('prod')
})

// CloudFormation replaces a resource whose logical id changes.
it('the logical ids of the table and the KMS keys stay the same', () => {
  const stateful = [...ofType(stacks, 'AWS::DynamoDB::GlobalTable'), ...ofType(stacks, 'AWS::KMS::Key')]
  expect(stateful.map(({ stack, id }) => `${stack}/${id}`).sort()).toEqual([
    'data/EventKey567EB652',
    'data/EvidenceKey167D8F4D',
    'data/MacKey790F75A3',
    'data/TableCD117FA1',
    'data/TotpKey103FF508',
  ])
})

describe('the table', () => {
  const table = () => ofType(stacks, 'AWS::DynamoDB::GlobalTable')[0]?.resource

  it('is retained when its stack is deleted', () => {
    expect(table()?.DeletionPolicy).toBe('RetainExceptOnCreate')
  })

  it('is protected from deletion, as its stack is', () => {
    expect(table()?.Properties['Replicas']).toMatchObject([{ DeletionProtectionEnabled: true }])
    expect(stacks.get('data')?.stack.terminationProtection).toBe(true)
  })

  it('is recoverable to any point in the last 35 days', () => {
    const recovery = { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 }
    expect(table()?.Properties['Replicas']).toMatchObject([{ PointInTimeRecoverySpecification: recovery }])
  })

  it('forgets what has expired', () => {
    expect(table()?.Properties['TimeToLiveSpecification']).toMatchObject({ Enabled: true })
  })
})

it('the KMS keys that the table depends on are retained when their stack is deleted', () => {
  for (const { resource } of ofType(stacks, 'AWS::KMS::Key'))
    expect(resource.DeletionPolicy).toBe('RetainExceptOnCreate')
})

describe('IAM policies', () => {
  const statements = () =>
    ofType(stacks, 'AWS::IAM::Policy').flatMap(({ id, resource }) =>
      (resource.Properties['PolicyDocument'] as { Statement: Statement[] }).Statement.map((statement) => ({
        id,
        ...statement,
      })),
    )

  it('no IAM policy allows an action by wildcard', () => {
    const broad = statements().filter(({ Action }) => list(Action).some((action) => action.includes('*')))
    expect(broad).toEqual([])
  })

  it('IAM policies have the resource * only for actions without resource-level permissions', () => {
    // For these actions, IAM supports no resource other than *.
    const allowed = new Set([
      'cloudtrail:DescribeTrails',
      'cloudtrail:LookupEvents',
      'cloudwatch:DescribeAlarms',
      'kms:CreateKey',
      'kms:ListKeys',
    ])
    const broad = statements()
      .filter(({ Resource }) => list(Resource).includes('*'))
      .flatMap(({ Action }) => list(Action))
      .filter((action) => !allowed.has(action))
    expect(broad).toEqual([])
  })

  it('the inline policies of a role stay below IAM’s limit of 10,240 characters without white space', () => {
    const sizes = ofType(stacks, 'AWS::IAM::Policy').map(({ resource }) => {
      const { PolicyDocument: document } = resource.Properties
      // A policy is longer in the template than in IAM, because the template has references instead of ARNs.
      return JSON.stringify(document).replaceAll(/\s/g, '').length
    })
    expect(Math.max(...sizes)).toBeLessThan(8_000)
  })

  const statementsOnItems = () => {
    const onItems = statements().filter(({ Action }) =>
      list(Action).some((name) => name.startsWith('dynamodb:')),
    )
    expect(onItems.length).toBeGreaterThan(50)
    return onItems
  }

  it('every IAM statement about table items is limited to named partitions', () => {
    for (const { id, Condition } of statementsOnItems()) {
      const keys = { ...Condition?.['ForAllValues:StringLike'], ...Condition?.['ForAllValues:StringEquals'] }
      expect(list(keys['dynamodb:LeadingKeys']).length, id).toBeGreaterThan(0)
    }
  })

  it('no IAM statement about table items allows a request without a partition key', () => {
    for (const { id, Action, Condition } of statementsOnItems()) {
      expect(Condition?.['Null'], id).toEqual({ 'dynamodb:LeadingKeys': 'false' })
      expect(list(Action), id).not.toContain('dynamodb:Scan')
    }
  })
})

describe('endpoints', () => {
  const publicRoutes = [
    'GET /oauth2/authorize',
    'GET /oauth2/authorize/request',
    'GET /oauth2/sign-out/request',
    'POST /oauth2/authorize',
    'POST /oauth2/token',
    'POST /oauth2/revoke',
    'GET /.well-known/jwks.json',
    'HEAD /.well-known/jwks.json',
    'GET /.well-known/openid-configuration',
    'HEAD /.well-known/openid-configuration',
    'POST /user/login-with-password',
    'POST /user/login/2fa',
  ]

  it('every endpoint requires an access_token, except the endpoints on the list of public routes', async () => {
    const open: string[] = []
    for (const { method, path, entry } of routes) {
      const { description } = await loadEndpoint(entry)
      if (description.scope === 'public') open.push(`${method} ${path}`)
    }
    expect(open.sort()).toEqual(publicRoutes.sort())
    const marked = routes.filter((route) => route.public).map(({ method, path }) => `${method} ${path}`)
    expect(marked.sort()).toEqual(open)
  })
})

it('every log group has a retention period', () => {
  for (const { resource } of ofType(stacks, 'AWS::Logs::LogGroup'))
    expect(resource.Properties['RetentionInDays']).toBe(90)
})

it('the runbook has a section for each alarm, but for no other', async () => {
  const values = { edge: true, standby }
  const linked = ofType(await synthesizeUnchecked('prod', { values }), 'AWS::CloudWatch::Alarm').map(
    ({ id, resource }) => {
      const anchor = /RUNBOOK\.md#([a-z-]+)$/.exec(String(resource.Properties['AlarmDescription']))?.[1]
      expect(anchor, id).toBeDefined()
      return anchor
    },
  )
  const alarms = runbook.slice(runbook.indexOf('## Alarms'), runbook.indexOf('## Procedures'))
  const paragraphs = [...alarms.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading)
  expect([...new Set(linked)].sort()).toEqual(paragraphs.sort())
})

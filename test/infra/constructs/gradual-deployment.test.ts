import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { CfnIntegration } from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnAlias, CfnVersion } from 'aws-cdk-lib/aws-lambda'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeBundleDirectories } from '../../support/bundle-directories.ts'
import { readConfig } from '../../../infra/config.ts'
import { endpointFunctions } from '../../../infra/endpoint-functions.ts'
import { events } from '../../../infra/events.ts'
import { routes } from '../../../infra/routes.ts'
import { workers } from '../../../infra/workers-and-schedules.ts'
import { buildStackModel } from '../../../infra/local/template/build-model.ts'
import { readStackTemplates } from '../../../infra/local/template/stack-templates.ts'
import { addStacks } from '../../../infra/stacks/add-stacks.ts'
import { configured } from '../../support/configured-stage.ts'
import { synthesizeUnchecked, ofType, type Stacks } from '../stacks/synthesize.ts'

let stacks: Stacks

beforeAll(async () => {
  makeBundleDirectories()
  stacks = await synthesizeUnchecked('prod')
})

interface Reference {
  Ref: string
}
interface MetricQuery {
  Expression?: string
  MetricStat?: { Metric: unknown }
}

interface AliasUpdate {
  CodeDeployLambdaAliasUpdate: { DeploymentGroupName: Reference }
}

const aliases = () => ofType(stacks, 'AWS::Lambda::Alias')
const canaries = () => aliases().filter(({ resource }) => resource.UpdatePolicy !== undefined)
const functionsServed = new Set(routes.map(({ entry }) => entry)).size + 1 + events.length + workers.length
const canariesMarked = [...endpointFunctions(), ...events].filter(({ canary }) => canary).length

/** Finds the integrations, event sources and permissions that name a function instead of its alias. */
function callsPastAliases(stacks: Stacks): string[] {
  const names = new Set(ofType(stacks, 'AWS::Lambda::Alias').map(({ id }) => id))
  const property = {
    'AWS::ApiGatewayV2::Integration': 'IntegrationUri',
    'AWS::Lambda::EventSourceMapping': 'FunctionName',
    'AWS::Lambda::Permission': 'FunctionName',
  }
  const callers = Object.entries(property).flatMap(([type, name]) =>
    ofType(stacks, type).map(({ id, resource }) => ({
      id,
      principal: resource.Properties['Principal'],
      // Callers refer to an alias by its ARN, or by a name that CloudFormation derives from the ARN.
      reference: /"Ref":"([A-Za-z0-9]+)"/.exec(JSON.stringify(resource.Properties[name]))?.[1] ?? '',
    })),
  )
  expect(callers.length).toBeGreaterThan(2 * routes.length)
  return callers
    .filter(({ principal }) => principal !== 'events.amazonaws.com')
    .filter(({ reference }) => !names.has(reference))
    .map(({ id }) => id)
}

/**
 * CodeDeploy deployments that may run at the same time. AWS publishes no request rate of CodeDeploy; 13 to 17
 * deployments of one stack were refused in practice (aws-cdk issue 21516, serverless-application-model issue
 * 351). Each deployment also calls Lambda's control plane, which accepts 15 requests a second in all (Lambda
 * quotas) and refuses a deployment beyond them (serverless-plugin-canary-deployments issue 159).
 */
const maxDeployments = 5

/** Every resource on which one of a stack depends explicitly, directly or through others. */
function dependenciesOf(stacks: Stacks, stack: string, id: string): Set<string> {
  const { resources = {} } = stacks.get(stack) ?? {}
  const direct = resources[id]?.DependsOn ?? []
  return new Set([...direct, ...direct.flatMap((other) => [...dependenciesOf(stacks, stack, other)])])
}

/** The largest number of CodeDeploy deployments that CloudFormation may run at once in a stack. */
function deploymentsAtOnce(stacks: Stacks, stack: string): number {
  const shifted = ofType(stacks, 'AWS::Lambda::Alias')
    .filter((alias) => alias.stack === stack && alias.resource.UpdatePolicy !== undefined)
    .map(({ id }) => id)
  // Deployments with the same number of others before them do not wait for one another.
  const waves = shifted.map((id) => shifted.filter((other) => dependenciesOf(stacks, stack, id).has(other)))
  return Math.max(0, ...[...Map.groupBy(waves, ({ length }) => length).values()].map(({ length }) => length))
}

describe('a gradual deployment', () => {
  it('a change to shared code starts only so many CodeDeploy deployments at once as AWS accepts', () => {
    for (const stack of ['intake', 'api'])
      expect(deploymentsAtOnce(stacks, stack), stack).toBeLessThanOrEqual(maxDeployments)
    expect(deploymentsAtOnce(stacks, 'api')).toBeGreaterThan(0)
    // The stacks are updated one after another.
    expect(stacks.get('api')?.stack.dependencies).toContain(stacks.get('intake')?.stack)
  })

  it('all other functions of a stack wait for its canaries, so that no bad version gets further', () => {
    for (const { stack, id, resource } of aliases()) {
      if (resource.UpdatePolicy !== undefined) continue
      const tried = canaries().filter((canary) => canary.stack === stack)
      for (const canary of tried) expect(dependenciesOf(stacks, stack, id), id).toContain(canary.id)
    }
  })

  it('the first step of a sign-in, its second step, tokens and events that move money are tried first', () => {
    const tried = ['user/login-with-password', 'user/login-2fa', 'oauth2/token', 'deposit.updated']
    const marked = [...endpointFunctions(), ...events].filter(({ canary }) => canary)
    const names = marked.map((row) => ('entry' in row ? row.entry : row.detailType))
    expect(names).toEqual(expect.arrayContaining(tried))
  })

  it('a deployment to prod publishes a version of every function that answers requests or events', () => {
    expect(aliases()).toHaveLength(functionsServed)
    expect(ofType(stacks, 'AWS::Lambda::Version')).toHaveLength(functionsServed)
  })

  it('a new version first gets a tenth of the calls, and an alarm rolls it back', () => {
    const groups = new Map(
      ofType(stacks, 'AWS::CodeDeploy::DeploymentGroup').map((group) => [group.id, group]),
    )
    const alarms = new Set(ofType(stacks, 'AWS::CloudWatch::Alarm').map(({ id }) => id))
    expect(canaries()).toHaveLength(canariesMarked)
    for (const { id, resource } of canaries()) {
      const { CodeDeployLambdaAliasUpdate: update } = resource.UpdatePolicy as AliasUpdate
      const { AlarmConfiguration: watched, ...group } = (groups.get(update.DeploymentGroupName.Ref)?.resource
        .Properties ?? {}) as { AlarmConfiguration: { Alarms: { Name: Reference }[]; Enabled: boolean } }
      expect(group, id).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) as unknown,
        },
      })
      expect(watched.Enabled).toBe(true)
      expect(watched.Alarms).toHaveLength(2)
      for (const { Name: name } of watched.Alarms) expect(alarms).toContain(name.Ref)
    }
  })

  const judges = () =>
    ofType(stacks, 'AWS::CloudWatch::Alarm').filter(({ resource }) =>
      String(resource.Properties['AlarmName']).includes('-deployment-'),
    )

  it('the alarms of a gradual deployment watch only the new version', () => {
    expect(judges()).toHaveLength(2 * canariesMarked)
    for (const { id, resource } of judges()) {
      const queries = resource.Properties['Metrics'] as MetricQuery[]
      const metrics = queries.flatMap(({ MetricStat }) => MetricStat ?? [])
      expect(metrics).toHaveLength(2)
      for (const metric of metrics)
        expect(JSON.stringify(metric.Metric), id).toMatch(
          /"Name":"(ExecutedVersion|version)","Value":\{"Fn::GetAtt":\["[A-Za-z0-9]+","Version"\]\}/,
        )
    }
  })

  it.each([
    ['one failure in ten calls', 1, 10, false],
    ['two failures in two calls', 2, 2, false],
    ['four failures in a hundred calls', 4, 100, false],
    ['three failures in three calls', 3, 3, true],
    ['five failures in a hundred calls', 5, 100, true],
  ])('for %s, whether the deployment is rolled back is correct', (_what, failed, requests, rolledBack) => {
    expect(judges()).not.toEqual([])
    for (const { id, resource } of judges()) {
      const { Metrics: queries, Threshold: threshold } = resource.Properties
      const expression = (queries as MetricQuery[]).find((query) => query.Expression)?.Expression ?? ''
      const [, metric, least, percent, divided] =
        /^IF\((\w+) >= (\d+), (\d+) \* (\w+) \/ requests, 0\)$/.exec(expression) ?? []
      expect(divided, `${id}: ${expression}`).toBe(metric)
      const value = failed >= Number(least) ? (Number(percent) * failed) / requests : 0
      expect(value >= Number(threshold), id).toBe(rolledBack)
    }
  })

  it('only schedules may invoke a function without its alias', () => {
    expect(callsPastAliases(stacks)).toEqual([])
  })

  it('callsPastAliases finds an integration that bypasses the alias of its function', async () => {
    const broken = await synthesizeUnchecked('prod', {
      change: (app) => {
        const integration = app.node.findAll().find((construct) => construct instanceof CfnIntegration)
        if (integration)
          integration.integrationUri =
            'arn:aws:lambda:eu-central-1:1:function:account-service-prod-user-logout'
      },
    })
    expect(callsPastAliases(broken)).toHaveLength(1)
  })

  it('CodeDeploy’s role reaches only the canaries of its stack and their alarms, without wildcards', () => {
    const policies = ofType(stacks, 'AWS::IAM::Policy').filter(({ id }) => id.startsWith('Deployer'))
    expect(policies).toHaveLength(2)
    for (const { stack, resource } of policies) {
      const { Statement: statements } = resource.Properties['PolicyDocument'] as {
        Statement: { Action: string | string[]; Resource: unknown[] }[]
      }
      expect(statements.flatMap(({ Action: action }) => action)).toEqual([
        'lambda:GetAlias',
        'lambda:GetProvisionedConcurrencyConfig',
        'lambda:UpdateAlias',
        'cloudwatch:DescribeAlarms',
      ])
      const reached = statements.flatMap(({ Resource }) => Resource)
      // Two ARNs and two alarms for each canary.
      expect(reached).toHaveLength(4 * canaries().filter((canary) => canary.stack === stack).length)
      for (const arn of reached)
        expect(JSON.stringify(arn)).toMatch(/:(function|alarm):account-service-prod-[a-z0-9:-]+"\]\]\}$/)
    }
  })

  it('old function versions are kept, except those that a failed deployment created', () => {
    for (const { resource } of ofType(stacks, 'AWS::Lambda::Version'))
      expect(resource.DeletionPolicy).toBe('RetainExceptOnCreate')
  })
})

describe('the knob gradualDeployment', () => {
  it.each([
    ['dev', {}, false],
    ['local', {}, false],
    ['prod', {}, true],
    ['prod', { gradualDeployment: false }, false],
    ['dev', { gradualDeployment: 'true' }, true],
  ])('gradualDeployment of the stage %s with the knobs %o is %s', (stage, values, gradual) => {
    expect(readConfig({ stage, ...configured, ...values }).gradualDeployment).toBe(gradual)
  })

  it('the local stack serves every route and queue if gradualDeployment is on', async () => {
    const app = new App({
      outdir: mkdtempSync(join(tmpdir(), 'gradual-')),
      builtinCloudFormationValidation: false,
    })
    await addStacks(app, readConfig({ stage: 'local', gradualDeployment: true }))
    const addresses = {
      region: 'us-east-1',
      accountId: '000000000000',
      apiUrl: 'http://api',
      awsUrl: 'http://aws',
    }
    const { routes: served, eventSources } = buildStackModel(readStackTemplates(app.synth()), addresses)
    expect(served).toHaveLength(routes.length + 1)
    expect(eventSources).toHaveLength(events.length + workers.length)
  })

  it('without gradualDeployment, functions have no aliases or versions', async () => {
    const constructs = [...(await synthesizeUnchecked('dev')).values()].flatMap(({ stack }) =>
      stack.node.findAll(),
    )
    expect(constructs.filter((one) => one instanceof CfnAlias || one instanceof CfnVersion)).toEqual([])
  })
})

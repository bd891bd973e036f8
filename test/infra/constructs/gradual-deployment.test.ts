import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { CfnIntegration } from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnAlias, CfnVersion } from 'aws-cdk-lib/aws-lambda'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeBundleDirectories } from '../../support/bundle-directories.ts'
import { readConfig } from '../../../infra/config.ts'
import { events, routes, workers } from '../../../infra/routes.ts'
import { buildStackModel } from '../../../infra/local/template/build-model.ts'
import { addStacks } from '../../../infra/stacks/add-stacks.ts'
import { synthesizeUnchecked, ofType, type Stacks } from '../stacks/synthesize.ts'

let stacks: Stacks

beforeAll(async () => {
  makeBundleDirectories()
  stacks = await synthesizeUnchecked('prod')
})

interface Reference {
  Ref: string
}

const aliases = () => new Map(ofType(stacks, 'AWS::Lambda::Alias').map((alias) => [alias.id, alias]))
const functionsServed = new Set(routes.map(({ entry }) => entry)).size + 1 + events.length + workers.length

/** Logical ids of integrations, event sources and permissions that name a function without its alias. */
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
      // A reference to an alias is its ARN, or a name that is taken from it.
      reference: /"Ref":"([A-Za-z0-9]+)"/.exec(JSON.stringify(resource.Properties[name]))?.[1] ?? '',
    })),
  )
  expect(callers.length).toBeGreaterThan(2 * routes.length)
  return callers
    .filter(({ principal }) => principal !== 'events.amazonaws.com')
    .filter(({ reference }) => !names.has(reference))
    .map(({ id }) => id)
}

describe('a deployment to prod', () => {
  it('publishes a version of every function that answers calls or events', () => {
    expect(aliases().size).toBe(functionsServed)
    expect(ofType(stacks, 'AWS::Lambda::Version')).toHaveLength(functionsServed)
  })

  it('moves a tenth of the calls first, and rolls back when one of its alarms fires', () => {
    const groups = new Map(
      ofType(stacks, 'AWS::CodeDeploy::DeploymentGroup').map((group) => [group.id, group]),
    )
    const alarms = new Set(ofType(stacks, 'AWS::CloudWatch::Alarm').map(({ id }) => id))
    for (const { id, resource } of aliases().values()) {
      const { CodeDeployLambdaAliasUpdate: update } = resource.UpdatePolicy as {
        CodeDeployLambdaAliasUpdate: { DeploymentGroupName: Reference }
      }
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

  it('has alarms that watch only the new version', () => {
    const judges = ofType(stacks, 'AWS::CloudWatch::Alarm').filter(({ resource }) =>
      String(resource.Properties['AlarmName']).includes('-deployment-'),
    )
    expect(judges).toHaveLength(2 * functionsServed)
    for (const { id, resource } of judges)
      expect(JSON.stringify(resource.Properties['Dimensions']), id).toMatch(
        /"Name":"(ExecutedVersion|version)","Value":\{"Fn::GetAtt":\["[A-Za-z0-9]+","Version"\]\}/,
      )
  })

  it('lets only schedules call a function without its alias', () => {
    expect(callsPastAliases(stacks)).toEqual([])
  })

  it('would be reported if an integration bypassed an alias', async () => {
    const broken = await synthesizeUnchecked('prod', {
      change: (app) => {
        const integration = app.node.findAll().find((construct) => construct instanceof CfnIntegration)
        if (integration)
          integration.integrationUri = 'arn:aws:lambda:eu-central-1:1:function:prod-user-logout'
      },
    })
    expect(callsPastAliases(broken)).toHaveLength(1)
  })

  it('lets CodeDeploy reach only the functions and alarms of the stage', () => {
    const roles = ofType(stacks, 'AWS::IAM::Policy').filter(({ id }) => id.startsWith('Deployer'))
    expect(roles).toHaveLength(2)
    for (const { resource } of roles) {
      const { Statement: statements } = resource.Properties['PolicyDocument'] as {
        Statement: { Action: string | string[]; Resource: unknown }[]
      }
      expect(statements.flatMap(({ Action: action }) => action)).toEqual([
        'lambda:GetAlias',
        'lambda:UpdateAlias',
        'lambda:GetProvisionedConcurrencyConfig',
        'cloudwatch:DescribeAlarms',
      ])
      for (const { Resource: reached } of statements)
        expect(JSON.stringify(reached)).toMatch(/:(function|alarm):prod-\*"\]\]\}$/)
    }
  })

  it('keeps old versions, except those of a failed deployment', () => {
    for (const { resource } of ofType(stacks, 'AWS::Lambda::Version'))
      expect(resource.DeletionPolicy).toBe('RetainExceptOnCreate')
  })
})

describe('a stage without protected data', () => {
  it.each([
    ['dev', {}, false],
    ['local', {}, false],
    ['prod', {}, true],
    ['prod', { gradualDeployment: false }, false],
    ['dev', { gradualDeployment: 'true' }, true],
  ])('%s with %o deploys gradually: %s', (stage, values, gradual) => {
    expect(readConfig({ stage, ...values }).gradualDeployment).toBe(gradual)
  })

  it('can have aliases on the local stack', async () => {
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
    const { routes: served, eventSources } = buildStackModel(app.synth(), addresses)
    expect(served).toHaveLength(routes.length + 1)
    expect(eventSources).toHaveLength(events.length + workers.length)
  })

  it('has no aliases', async () => {
    const constructs = [...(await synthesizeUnchecked('dev')).values()].flatMap(({ stack }) =>
      stack.node.findAll(),
    )
    expect(constructs.filter((one) => one instanceof CfnAlias || one instanceof CfnVersion)).toEqual([])
  })
})

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

const aliases = () => new Map(ofType(stacks, 'AWS::Lambda::Alias').map((alias) => [alias.id, alias]))
const functionsServed = new Set(routes.map(({ entry }) => entry)).size + 1 + events.length + workers.length

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

describe('a gradual deployment', () => {
  it('a deployment to prod publishes a version of every function that answers requests or events', () => {
    expect(aliases().size).toBe(functionsServed)
    expect(ofType(stacks, 'AWS::Lambda::Version')).toHaveLength(functionsServed)
  })

  it('a new version first gets a tenth of the calls, and an alarm rolls it back', () => {
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

  it('the alarms of a gradual deployment watch only the new version', () => {
    const judges = ofType(stacks, 'AWS::CloudWatch::Alarm').filter(({ resource }) =>
      String(resource.Properties['AlarmName']).includes('-deployment-'),
    )
    expect(judges).toHaveLength(2 * functionsServed)
    for (const { id, resource } of judges)
      expect(JSON.stringify(resource.Properties['Dimensions']), id).toMatch(
        /"Name":"(ExecutedVersion|version)","Value":\{"Fn::GetAtt":\["[A-Za-z0-9]+","Version"\]\}/,
      )
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

  it('CodeDeploy’s role reaches only the functions and alarms of the stage', () => {
    const roles = ofType(stacks, 'AWS::IAM::Policy').filter(({ id }) => id.startsWith('Deployer'))
    expect(roles).toHaveLength(2)
    for (const { resource } of roles) {
      const { Statement: statements } = resource.Properties['PolicyDocument'] as {
        Statement: { Action: string | string[]; Resource: unknown }[]
      }
      expect(statements.flatMap(({ Action: action }) => action)).toEqual([
        'lambda:GetAlias',
        'lambda:GetProvisionedConcurrencyConfig',
        'lambda:UpdateAlias',
        'cloudwatch:DescribeAlarms',
      ])
      for (const { Resource: reached } of statements)
        expect(JSON.stringify(reached)).toMatch(/:(function|alarm):account-service-prod-\*"\]\]\}$/)
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

  it('the local stack serves every function through its alias if gradualDeployment is on', async () => {
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

  it('without gradualDeployment, functions have no aliases or versions', async () => {
    const constructs = [...(await synthesizeUnchecked('dev')).values()].flatMap(({ stack }) =>
      stack.node.findAll(),
    )
    expect(constructs.filter((one) => one instanceof CfnAlias || one instanceof CfnVersion)).toEqual([])
  })
})

import { CfnAlias, CfnVersion } from 'aws-cdk-lib/aws-lambda'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { endpointFunctions } from '../../../infra/endpoint-functions.ts'
import { events } from '../../../infra/events.ts'
import { routes } from '../../../infra/routes.ts'
import { configured } from '../../support/configured-stage.ts'
import { synthesizeUnchecked, ofType } from '../stacks/synthesize.ts'

const stacks = await synthesizeUnchecked('prod')

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
const canariesMarked = [...endpointFunctions(), ...events].filter(({ canary }) => canary).length

/** Finds the integrations, event sources and permissions that name a function instead of its alias. */
function callsPastAliases(): string[] {
  const names = aliases().map(({ id }) => id)
  const callers = [
    ...ofType(stacks, 'AWS::ApiGatewayV2::Integration'),
    ...ofType(stacks, 'AWS::Lambda::EventSourceMapping'),
    ...ofType(stacks, 'AWS::Lambda::Permission'),
  ].filter(({ resource }) => resource.Properties['Principal'] !== 'events.amazonaws.com')
  expect(callers.length).toBeGreaterThan(2 * routes.length)
  const called = ({ IntegrationUri: uri, FunctionName: name }: Record<string, unknown>) =>
    JSON.stringify(uri ?? name)
  return callers
    .filter(({ resource }) => !names.some((id) => called(resource.Properties).includes(`"${id}"`)))
    .map(({ id }) => id)
}

/**
 * CodeDeploy deployments that may run at the same time. AWS publishes no request rate of CodeDeploy; 13 to 17
 * deployments of one stack were refused in practice (aws-cdk issue 21516, serverless-application-model issue
 * 351). Each deployment also calls Lambda's control plane, which accepts 15 requests a second in all (Lambda
 * quotas) and refuses a deployment beyond them (serverless-plugin-canary-deployments issue 159).
 */
const maxDeployments = 5

describe('a gradual deployment', () => {
  it('starts at most as many CodeDeploy deployments at once as AWS accepts', () => {
    const perStack = [...Map.groupBy(canaries(), ({ stack }) => stack).values()].map(({ length }) => length)
    for (const deployments of perStack) expect(deployments).toBeLessThanOrEqual(maxDeployments)
    // The stacks are updated one after another.
    expect(stacks.get('api')?.stack.dependencies).toContain(stacks.get('intake')?.stack)
  })

  it('updates the other functions of a stack after its canaries, so that a bad version reaches only canaries', () => {
    for (const { stack, id, resource } of aliases())
      if (resource.UpdatePolicy === undefined)
        for (const canary of canaries())
          if (canary.stack === stack) expect(resource.DependsOn, id).toContain(canary.id)
  })

  it('gives the new version of a canary a tenth of the calls first, and rolls it back on an alarm', () => {
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
      expect(watched.Alarms).toHaveLength(1)
      for (const { Name: name } of watched.Alarms) expect(alarms).toContain(name.Ref)
    }
  })

  it('is rolled back by failures of the new version alone: at least three, and 5 % of its calls', () => {
    const judges = ofType(stacks, 'AWS::CloudWatch::Alarm').filter(({ resource }) =>
      String(resource.Properties['AlarmName']).endsWith('-deployment'),
    )
    expect(judges).toHaveLength(canariesMarked)
    const failures = '(FILL(errors, 0) + FILL(faults, 0))'
    for (const { id, resource } of judges) {
      const queries = resource.Properties['Metrics'] as MetricQuery[]
      expect(queries.flatMap(({ Expression }) => Expression ?? [])).toEqual([
        `IF(${failures} >= 3, 100 * ${failures} / requests, 0)`,
      ])
      expect(resource.Properties['Threshold']).toBe(5)
      const metrics = queries.flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])
      expect(metrics).toHaveLength(3)
      for (const metric of metrics)
        expect(JSON.stringify(metric), id).toMatch(
          /"Name":"(ExecutedVersion|version)","Value":\{"Fn::GetAtt":\["[A-Za-z0-9]+","Version"\]\}/,
        )
    }
  })

  it('lets only schedules invoke a function without its alias', () => {
    expect(callsPastAliases()).toEqual([])
  })

  it('CodeDeploy’s role reaches only the canaries of its stack, and all alarms, without which it deploys nothing', () => {
    const policies = ofType(stacks, 'AWS::IAM::Policy').filter(({ id }) => id.startsWith('Deployment'))
    expect(policies).toHaveLength(2)
    for (const { stack, resource } of policies) {
      const { Statement: statements } = resource.Properties['PolicyDocument'] as {
        Statement: { Action: string | string[]; Resource: unknown }[]
      }
      const onAll = statements.filter(({ Resource: resources }) => resources === '*')
      expect(onAll.map(({ Action: action }) => action)).toEqual(['cloudwatch:DescribeAlarms'])
      const reached = statements.flatMap(({ Resource: resources }) => resources).filter((arn) => arn !== '*')
      expect(reached).toHaveLength(2 * canaries().filter((canary) => canary.stack === stack).length)
      for (const arn of reached)
        expect(JSON.stringify(arn)).toMatch(/:function:account-service-prod-[a-z0-9:-]+"\]\]\}$/)
    }
  })
})

describe('the knob gradualDeployment', () => {
  it.each([
    ['dev', {}, false],
    ['local', {}, false],
    ['prod', {}, true],
    ['prod', { gradualDeployment: false }, false],
    ['prod', { alarms: false, gradualDeployment: true }, false],
    ['dev', { gradualDeployment: 'true', alarms: 'true' }, true],
  ])('gradualDeployment of the stage %s with the knobs %o is %s', (stage, values, gradual) => {
    expect(readConfig({ stage, ...configured, ...values }).gradualDeployment).toBe(gradual)
  })

  it('without gradualDeployment, functions have no aliases or versions', async () => {
    const constructs = [...(await synthesizeUnchecked('dev')).values()].flatMap(({ stack }) =>
      stack.node.findAll(),
    )
    expect(constructs.filter((one) => one instanceof CfnAlias || one instanceof CfnVersion)).toEqual([])
  })
})

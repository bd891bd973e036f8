import { expect, it } from 'vitest'
import { endpointFunctions } from '../../../infra/endpoint-functions.ts'
import { ofType, type Stacks, synthesizeUnchecked } from './synthesize.ts'

const stacks = await synthesizeUnchecked('prod')

// CloudFormation could not remove it.
it('no stack exports a resource that belongs to one endpoint or one event', () => {
  const exported = [...stacks].flatMap(([name, { outputs }]) =>
    Object.keys(outputs)
      .filter((output) => output.startsWith('ExportsOutput'))
      .map((output) => `${name} ${output.replaceAll(/ExportsOutput(Ref|FnGetAtt)|[0-9A-F]{8}/g, '')}`),
  )
  expect(exported.toSorted()).toEqual(
    [
      'data Bus',
      'data BusArn',
      'data EventKeyArn',
      'data EvidenceKeyArn',
      'data MacKeyArn',
      'data TableArn',
      'data Table',
      'data TotpKeyArn',
    ].toSorted(),
  )
})

it('every endpoint has an alarm at nine tenths of the requests that its throttle allows', async () => {
  const thresholds = (from: Stacks) =>
    new Map(
      ofType(from, 'AWS::CloudWatch::Alarm').map(({ resource: { Properties: alarm } }) => [
        String(alarm['AlarmName']).replace('account-service-prod-', ''),
        alarm,
      ]),
    )
  const standard = thresholds(stacks)
  for (const { entry } of endpointFunctions()) {
    const name = entry.replaceAll('/', '-')
    expect(standard.get(`${name}-at-throttle`), name).toMatchObject({
      MetricName: 'Invocations',
      Dimensions: [{ Name: 'FunctionName', Value: `account-service-prod-${name}` }],
      Period: 300,
    })
  }
  const slower = thresholds(await synthesizeUnchecked('prod', { values: { throttleRate: 10 } }))
  const thresholdOf = (from: typeof standard, name: string) => from.get(`${name}-at-throttle`)?.['Threshold']
  for (const [name, requestsPerSecond, slowly] of [
    ['account-info', 1_000, 10],
    ['user-login-with-password', 300, 3],
    ['community-export', 20, 1],
  ] as const) {
    expect(thresholdOf(standard, name), name).toBe(0.9 * 300 * requestsPerSecond)
    expect(thresholdOf(slower, name), name).toBe(0.9 * 300 * slowly)
  }
})

import { describe, expect, it } from 'vitest'
import { ofType, type Stacks, synthesizeUnchecked, typesIn } from './synthesize.ts'

const region = 'eu-west-1'
const place = (service: string, name: string) => `arn:aws:${service}:${region}:123456789012:${name}`
const standby = {
  region,
  certificateArn: place('acm', 'certificate/1'),
  alarmTopicArn: place('sns', 'alarms'),
}
const values = {
  standby,
  macKeys: 'MacKey2,MacKey',
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/1',
  alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:alarms',
  edge: true,
}

const primary = await synthesizeUnchecked('prod', { values })
const failedOver = await synthesizeUnchecked('prod', { values: { ...values, failover: 'restored' } })

const propertiesOf = (stacks: Stacks, type: string) =>
  ofType(stacks, type).map(({ resource }) => resource.Properties)

describe('while the stage’s own region works', () => {
  it('the table has a replica that is protected, recoverable and tagged like the table', () => {
    const [table] = propertiesOf(primary, 'AWS::DynamoDB::GlobalTable')
    const [replica, own] = table?.['Replicas'] as Record<string, unknown>[]
    expect(own).toMatchObject({ Region: 'us-east-1', DeletionProtectionEnabled: true })
    expect(replica).toEqual({ ...own, Region: region })
  })

  it('the standby region has replicas of all data keys, with the same policies and tags', () => {
    const keys = ofType(primary, 'AWS::KMS::Key')
    const replicas = ofType(primary, 'AWS::KMS::ReplicaKey')
    expect(replicas.map(({ id }) => id)).toEqual(['MacKey2', 'MacKey', 'TotpKey', 'EvidenceKey'])
    for (const { id, resource } of replicas) {
      const { Properties: properties, DeletionPolicy: retention } = resource
      const original = keys.find((key) => key.id.slice(0, -8) === id)?.resource
      expect(original?.Properties['MultiRegion']).toBe(true)
      expect(properties['KeyPolicy']).toEqual(original?.Properties['KeyPolicy'])
      expect(properties['Tags']).toEqual(original?.Properties['Tags'])
      expect(retention).toBe('RetainExceptOnCreate')
      expect(properties['PrimaryKeyArn']).toEqual({
        'Fn::GetStackOutput': {
          StackName: 'account-service-prod-data',
          OutputName: `${id}Arn`,
          Region: 'us-east-1',
        },
      })
      expect(primary.get('data')?.outputs[`${id}Arn`]?.Value).toEqual({
        'Fn::GetAtt': [expect.stringMatching(`^${id}`), 'Arn'],
      })
    }
  })

  it('the stack of the replica keys is in the standby region', () => {
    expect(primary.get('standby')?.stack.region).toBe(region)
  })

  it('the stack of the replica keys is protected', () => {
    expect(primary.get('standby')?.stack.terminationProtection).toBe(true)
  })

  it('the stack of the replica keys is deployed after the primary keys', () => {
    const dependencies = primary.get('standby')?.stack.dependencies
    expect(dependencies?.map(({ stackName }) => stackName)).toEqual(['account-service-prod-data'])
  })

  const standbyRule = 'account-service-prod-standby-key-changes'

  it('a rule in the standby region matches changes of the replica keys', () => {
    const there = ofType(primary, 'AWS::Events::Rule').filter(({ stack }) => stack === 'standby')
    const names = ['MacKey2', 'MacKey', 'TotpKey', 'EvidenceKey']
    const ARN = names.map((key) => ({ 'Fn::GetAtt': [key, 'Arn'] }))
    expect(there.map(({ resource }) => resource.Properties)).toMatchObject([
      { Name: standbyRule, EventPattern: { source: ['aws.kms'], detail: { resources: { ARN } } } },
    ])
  })

  it('changes of the replica keys raise an alarm that notifies the standby region’s topic', () => {
    const alarms = ofType(primary, 'AWS::CloudWatch::Alarm').filter(({ stack }) => stack === 'standby')
    expect(alarms.map(({ resource }) => resource.Properties)).toMatchObject([
      { Dimensions: [{ Name: 'RuleName', Value: standbyRule }], AlarmActions: [standby.alarmTopicArn] },
    ])
  })
})

describe('after a failover', () => {
  it('after a failover every stack is in the standby region', () => {
    expect([...failedOver.keys()]).toEqual(['data', 'intake', 'api', 'observability'])
    for (const { stack } of failedOver.values()) expect(stack.region).toBe(region)
  })

  it('after a failover no stack refers to the lost region', () => {
    expect(failedOver.size).toBeGreaterThan(0)
    for (const [name, { resources }] of failedOver)
      expect(JSON.stringify(resources), name).not.toContain('us-east-1')
  })

  it('a failover uses the standby region’s table and KMS keys instead of creating its own', () => {
    expect(typesIn(failedOver)).not.toContain('AWS::DynamoDB::GlobalTable')
    expect(ofType(failedOver, 'AWS::KMS::Key').map(({ id }) => id)).toEqual(['EventKey567EB652'])
    const environments = propertiesOf(failedOver, 'AWS::Lambda::Function').map(
      ({ Environment }) => (Environment as { Variables: Record<string, unknown> }).Variables,
    )
    const [newest, mac, totp] = ['MacKey2', 'MacKey', 'TotpKey'].map((name) => ({
      'Fn::ImportValue': `account-service-prod-standby-${name}Arn`,
    }))
    for (const variables of environments)
      expect(variables).toMatchObject({
        TABLE_NAME: 'restored',
        MAC_KEY_IDS: { 'Fn::Join': ['', [newest, ',', mac]] },
        TOTP_KEY_ID: totp,
      })
    const exported = Object.values(primary.get('standby')?.outputs ?? {}).map(({ Export }) => Export?.Name)
    const evidence = { 'Fn::ImportValue': 'account-service-prod-standby-EvidenceKeyArn' }
    expect(exported).toEqual([newest, mac, totp, evidence].map((key) => key?.['Fn::ImportValue']))
  })

  it('after a failover the domain has the standby region’s certificate', () => {
    const [domain] = propertiesOf(failedOver, 'AWS::ApiGatewayV2::DomainName')
    expect(domain?.['DomainNameConfigurations']).toMatchObject([{ CertificateArn: standby.certificateArn }])
  })

  it('after a failover the alarms have the standby region’s topic', () => {
    const actions = ['Alarm', 'CompositeAlarm']
      .flatMap((type) => propertiesOf(failedOver, `AWS::CloudWatch::${type}`))
      .flatMap(({ AlarmActions: told = [] }) => told)
    expect(new Set(actions)).toEqual(new Set([standby.alarmTopicArn]))
  })

  // The lost region’s distribution still has the domain.
  it('after a failover there is no CloudFront distribution', () => {
    for (const type of ['CloudFront::Distribution', 'WAFv2::WebACL'])
      expect(typesIn(failedOver)).not.toContain(`AWS::${type}`)
  })
})

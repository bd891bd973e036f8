import { describe, expect, it } from 'vitest'
import { chooseStage, deploymentRegion, readConfig } from '../../infra/config.ts'
import { configured, standby } from '../support/configured-stage.ts'

it('readConfig accepts numbers and lists as text, as the command line passes them', () => {
  const config = readConfig({
    stage: 'local',
    accessTokenTtlSeconds: '60',
    signingKeyRotationDays: '0.5',
    corsOrigins: 'https://a.example, https://b.example',
    reportingTimeZone: 'Europe/Berlin',
  })
  expect(config).toMatchObject({
    accessTokenTtlSeconds: 60,
    signingKeyRotationDays: 0.5,
    corsOrigins: ['https://a.example', 'https://b.example'],
    reportingTimeZone: 'Europe/Berlin',
  })
})

it.each([
  ['an unknown knob', { acessTokenTtlSeconds: 60 }, /acessTokenTtlSeconds/],
  ['a delay longer than a queue allows', { mailDelaySeconds: 901 }, /mailDelaySeconds/],
  ['a number out of range', { accessTokenTtlSeconds: 0 }, /accessTokenTtlSeconds/],
  ['text for a number', { accessTokenTtlSeconds: 'soon' }, /accessTokenTtlSeconds/],
  ['an empty text for a number', { jwksMaxAgeSeconds: '' }, /jwksMaxAgeSeconds: must be a number/],
  ['blanks for a number', { signingKeyDeletionDays: ' ' }, /signingKeyDeletionDays: must be a number/],
  ['a fraction of a second', { accessTokenTtlSeconds: '1.5' }, /accessTokenTtlSeconds/],
  ['a signing key that signs for more than three years', { signingKeyRotationDays: 1096 }, /RotationDays/],
  ['a signing key that is too small', { signingKeySpec: 'RSA_1024' }, /signingKeySpec/],
  ['an unknown time zone', { reportingTimeZone: 'Mars/Olympus' }, /reportingTimeZone/],
  ['a page address that is no URL', { authUrl: 'auth' }, /authUrl/],
  ['a deletion period that KMS rejects', { signingKeyDeletionDays: 3 }, /signingKeyDeletionDays/],
])('readConfig rejects %s with an error that names the configuration knob', (_what, values, message) => {
  expect(() => readConfig({ stage: 'local', ...values })).toThrow(message)
})

it('only the local stack may set signingKeyPublishSeconds below two hours', () => {
  expect(readConfig({ stage: 'local', signingKeyPublishSeconds: 1 }).signingKeyPublishSeconds).toBe(1)
  expect(() => readConfig({ ...configured, stage: 'dev', signingKeyPublishSeconds: 7_199 })).toThrow(
    /at least 7200/,
  )
})

it.each([
  ['prod', true],
  ['dev', false],
  ['local', false],
])('in the stage %s, the default of protectData and alarms is %s', (stage, isOn) => {
  expect(readConfig({ ...configured, stage })).toMatchObject({ protectData: isOn, alarms: isOn })
})

describe('the configuration of a deployment', () => {
  const there = { region: 'eu-west-1' }
  const arnHere = 'arn:aws:sns:eu-central-1:123456789012:alarms'
  const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/1'
  const domainName = 'api.example.com'
  const domain = { domainName, certificateArn }

  it('the refusal of prod without a mail sender and alarm topic says what to set where', () => {
    const refused = () => readConfig({ stage: 'prod' })
    expect(refused).toThrow('"stages", "prod" in cdk.json')
    expect(refused).toThrow('"mailFrom": "no-reply@YOUR-DOMAIN"')
    expect(refused).toThrow('alarmTopicArn is missing')
  })

  it.each([
    ['the default page', { ...configured, authUrl: undefined }],
    [
      'an internationalized domain',
      {
        ...configured,
        domainName: 'api.xn--e1afmkfd.xn--p1ai',
        certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/1',
      },
    ],
    ['no alarms', { ...configured, alarms: false, alarmTopicArn: undefined }],
    ['CORS origins', { ...configured, corsOrigins: ['https://a.example', 'https://b.example:8443'] }],
    ['the origins of apps', { ...configured, corsOrigins: 'capacitor://localhost,chrome-extension://abc' }],
    [
      'all ports of this machine, where data is not protected',
      { ...configured, protectData: false, corsOrigins: 'http://localhost:*,http://127.0.0.1:4412' },
    ],
  ])('a deployment with a mail sender and %s is accepted', (_what, values) => {
    expect(readConfig({ stage: 'prod', ...values })).toMatchObject({ stage: 'prod' })
  })

  it.each([
    ['no mail sender', { mailFrom: undefined }, /missing: "mailFrom"/],
    ['a page without https', { authUrl: 'http://auth.example.com/' }, /authUrl must begin with https/],
    ...[
      ['an origin of this machine', 'http://127.0.0.1:3001'],
      ['all ports of this machine', 'http://localhost:*'],
      ['an origin without https', 'http://a.example'],
      ['no origin', 'null'],
      ['files', 'file://localhost'],
      ['an app with a path', 'capacitor://localhost/'],
      ['all hosts', 'https://*'],
      ['all ports', 'https://a.example:*'],
      ['an origin in upper case', 'https://A.example'],
    ].map(([what = '', corsOrigins]): [string, object, RegExp] => [
      what,
      { corsOrigins },
      /corsOrigins must be origins/,
    ]),
    ['an origin with a path', { corsOrigins: 'https://a.example/' }, /corsOrigins must be origins/],
    ['every origin', { corsOrigins: '*' }, /corsOrigins must be origins/],
    ['a standby that is no region', { standby: { region: 'Ireland' } }, /standby.region/],
    ['a standby with a topic elsewhere', { standby: { ...there, alarmTopicArn: arnHere } }, /standby: must/],
    [
      'a standby with a certificate of another region',
      { standby: { ...there, certificateArn: arnHere } },
      /standby: must/,
    ],
    [
      'a domain and a standby without a certificate for it',
      { standby: there, ...domain },
      /standby needs a certificateArn/,
    ],
    ...['arn:…', 'arn:aws:sqs:us-east-1:123456789012:alarms', 'arn:aws:sns:us-east-1:123456789012'].map(
      (alarmTopicArn): [string, object, RegExp] => [
        `the topic ${alarmTopicArn}`,
        { alarmTopicArn },
        /alarmTopicArn: must be the ARN of an SNS topic/,
      ],
    ),
    [
      'a standby with a queue for a topic',
      { standby: { ...there, alarmTopicArn: 'arn:aws:sqs:eu-west-1:123456789012:alarms' } },
      /standby.alarmTopicArn: must be the ARN of an SNS topic/,
    ],
    ['a standby without a topic', { standby: there }, /standby needs an alarmTopicArn/],
    ['a MAC key of another name', { macKeys: 'MacKey,TotpKey' }, /macKeys\S* must be like MacKey2/],
    ['a MAC key that is named twice', { macKeys: 'MacKey,MacKey' }, /macKeys: must name each key once/],
    ['a failover to nowhere', { failover: 'restored' }, /failover needs a standby/],
    ['a domain without a certificate', { domainName }, /go together/],
    ['a certificate without a domain', { certificateArn }, /go together/],
    ['a URL instead of a host name', { ...domain, domainName: 'https://api.example.com' }, /domainName/],
    [
      'a certificateArn of another service than ACM',
      { ...domain, certificateArn: 'arn:aws:iam::1:server-certificate/x' },
      /certificateArn/,
    ],
    [
      'a certificateArn that was not completed',
      { ...domain, certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/…' },
      /certificateArn: must be the ARN of a certificate/,
    ],
    [
      'a standby with a topic for a certificate',
      { standby: { ...standby, certificateArn: standby.alarmTopicArn }, ...domain },
      /standby.certificateArn: must be the ARN of a certificate/,
    ],
    ['a domain on the local stack', { ...domain, stage: 'local' }, /for deployments/],
    ['an edge on the local stack', { edge: true, stage: 'local' }, /edge is for deployments/],
    [
      'an edge with a certificate outside us-east-1',
      { edge: true, ...domain },
      /certificateArn must be in us-east-1/,
    ],
    ['an edge with a topic elsewhere', { edge: { alarmTopicArn: arnHere } }, /edge/],
    ['an edge with a rate below WAF’s minimum', { edge: { rate: 9 } }, /edge/],
    ['an edge with a rate above WAF’s maximum', { edge: { rate: 2_000_000_001 } }, /edge/],
    ['an edge with a secret without a number', { edge: { secretNumber: 0 } }, /edge/],
    [
      'more origins than fit into the environment of a function',
      {
        corsOrigins: Array.from({ length: 40 }, (_, i) => `https://customer-portal-${i}.example-company.com`),
      },
      /corsOrigins: must have at most 1,500 characters/,
    ],
    [
      'more principals than fit into the environment of a function',
      {
        breakGlass: Array.from({ length: 40 }, (_, i) => `arn:aws:iam::123456789012:role/administrator-${i}`),
      },
      /breakGlass: must have at most 1,500 characters/,
    ],
    ['an edge with an option that it lacks', { edge: { rates: 600 } }, /edge.rates: Invalid key/],
    ['a stage name that makes names too long', { stage: 'integration-2' }, /stage: must have at most 12/],
  ])(
    'a deployment with %s is refused with an error that names the configuration knob',
    (_what, values, message) => {
      expect(() => readConfig({ stage: 'prod', ...configured, ...values })).toThrow(message)
    },
  )

  it('the local stack may use plain http', () => {
    const values = { authUrl: 'http://127.0.0.1:5000/', corsOrigins: 'http://127.0.0.1:5000' }
    expect(readConfig({ stage: 'local', ...values })).toMatchObject({ authUrl: values.authUrl })
  })
})

describe('deploymentRegion', () => {
  const stage = { ...configured, stage: 'prod', standby }

  it('a stage is deployed in the region that the command line names, or by default in us-east-1', () => {
    expect(deploymentRegion(readConfig(stage), 'eu-central-1')).toBe('eu-central-1')
    expect(deploymentRegion(readConfig(stage), undefined)).toBe('us-east-1')
  })

  it('after a failover a stage is deployed in its standby region, whatever the command line says', () => {
    expect(deploymentRegion(readConfig({ ...stage, failover: 'restored' }), 'eu-central-1')).toBe('eu-west-1')
  })

  it('without a failover, a deployment to the standby region is refused', () => {
    expect(() => deploymentRegion(readConfig(stage), 'eu-west-1')).toThrow(
      'eu-west-1 is the standby region of this stage: name its own by AWS_REGION, or set "failover"',
    )
    const toDefault = readConfig({ ...stage, alarms: false, standby: { region: 'us-east-1' } })
    expect(() => deploymentRegion(toDefault, undefined)).toThrow('us-east-1 is the standby region')
  })
})

describe('chooseStage', () => {
  const stages = { dev: configured, prod: { ...configured, exportCap: 100 } }
  const choose = (context: Record<string, unknown>) => chooseStage((name) => context[name])

  it.each([
    ['dev by default', { stages }, { stage: 'dev', exportCap: 10_000 }],
    ['the stage that the context names', { stages, stage: 'prod' }, { stage: 'prod', exportCap: 100 }],
    [
      'a stage from `-c stages=…`, which is JSON text',
      { stages: JSON.stringify(stages), stage: 'prod' },
      { exportCap: 100 },
    ],
  ])('chooseStage returns %s', (_what, context, expected) => {
    expect(choose(context)).toMatchObject(expected)
  })

  it('chooseStage rejects a stage that cdk.json does not have, instead of deploying it with defaults', () => {
    expect(() => choose({ stages, stage: 'prdo' })).toThrow('cdk.json has no stage prdo; it has dev, prod')
  })

  it('chooseStage refuses to deploy the local stack, whose bus takes events from any source', () => {
    expect(() => choose({ stages: { local: configured }, stage: 'local' })).toThrow(
      'give a deployment another',
    )
  })

  it.each(['{"prod":', '[1]', '{"prod":true}'])(
    'chooseStage refuses the context `stages` with the value %s',
    (text) => {
      expect(() => choose({ stages: text, stage: 'prod' })).toThrow('`stages` must be a JSON object')
    },
  )
})

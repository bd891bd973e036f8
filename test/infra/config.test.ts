import { describe, expect, it } from 'vitest'
import { chooseStage, readConfig } from '../../infra/config.ts'

describe('readConfig', () => {
  it('readConfig fills in the default of every knob that is left out', () => {
    expect(readConfig({ stage: 'local' })).toMatchObject({
      accessTokenTtlSeconds: 86_400,
      authorizationCodeTtlSeconds: 60,
      loginTicketTtlSeconds: 600,
      signingKeySpec: 'RSA_2048',
      signingKeyRotationDays: 30,
      signingKeyPublishSeconds: 86_400,
      signingKeyRetireMarginSeconds: 7_200,
      jwksMaxAgeSeconds: 300,
      firstPartyClientId: 'first-party',
      quoteCurrency: 'USDT',
      rewardCurrency: 'USDT',
      reportingTimeZone: 'UTC',
      exportCap: 10_000,
      namePrefix: '',
    })
  })

  it('readConfig accepts numbers, lists and tags as text, as the command line passes them', () => {
    const config = readConfig({
      stage: 'local',
      accessTokenTtlSeconds: '60',
      signingKeyRotationDays: '0.5',
      corsOrigins: 'https://a.example, https://b.example',
      reportingTimeZone: 'Europe/Berlin',
      tags: 'team=payments, cost-center=42',
    })
    expect(config).toMatchObject({
      accessTokenTtlSeconds: 60,
      signingKeyRotationDays: 0.5,
      corsOrigins: ['https://a.example', 'https://b.example'],
      tags: { team: 'payments', 'cost-center': '42' },
      reportingTimeZone: 'Europe/Berlin',
    })
  })

  it.each([
    ['an unknown knob', { acessTokenTtlSeconds: 60 }, /acessTokenTtlSeconds/],
    ['a number out of range', { accessTokenTtlSeconds: 0 }, /accessTokenTtlSeconds/],
    ['text for a number', { accessTokenTtlSeconds: 'soon' }, /accessTokenTtlSeconds/],
    ['a fraction of a second', { accessTokenTtlSeconds: '1.5' }, /accessTokenTtlSeconds/],
    ['a signing key that is too small', { signingKeySpec: 'RSA_1024' }, /signingKeySpec/],
    ['an unknown time zone', { reportingTimeZone: 'Mars/Olympus' }, /reportingTimeZone/],
    ['a page address that is no URL', { authUrl: 'auth' }, /authUrl/],
    ['the tag that marks signing keys', { tags: { 'signing-key': 'x' } }, /tags.signing-key/],
    ['a tag that the service sets itself', { tags: 'stage=prod' }, /tags.stage/],
    ['a tag that AWS reserves', { tags: { 'aws:x': 'y' } }, /tags.aws:x/],
    ['a deletion period that KMS rejects', { signingKeyDeletionDays: 3 }, /signingKeyDeletionDays/],
  ])('readConfig rejects %s and names the knob', (_what, values, message) => {
    expect(() => readConfig({ stage: 'local', ...values })).toThrow(message)
  })

  it('only the local stack may set signingKeyPublishSeconds below two hours', () => {
    expect(readConfig({ stage: 'local', signingKeyPublishSeconds: 1 }).signingKeyPublishSeconds).toBe(1)
    expect(() => readConfig({ stage: 'dev', signingKeyPublishSeconds: 7_199 })).toThrow(/at least 7200/)
  })

  it.each([
    ['prod', true],
    ['dev', false],
    ['local', false],
  ])('by default, protectData of the stage %s is %s', (stage, protect) => {
    expect(readConfig({ stage }).protectData).toBe(protect)
  })
})

describe('chooseStage', () => {
  const stages = { dev: {}, prod: { exportCap: 100 } }
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

  it('chooseStage rejects an unknown knob in the configuration of a stage', () => {
    expect(() => choose({ stages: { dev: { exportCop: 1 } } })).toThrow(/exportCop/)
  })
})

import { describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'

describe('readConfig', () => {
  it('fills in every default', () => {
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

  it('takes every knob as text, as a command line gives it', () => {
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
    ['a key that signs too small', { signingKeySpec: 'RSA_1024' }, /signingKeySpec/],
    ['no time zone', { reportingTimeZone: 'Mars/Olympus' }, /reportingTimeZone/],
    ['a page that is no address', { authUrl: 'auth' }, /authUrl/],
    ['a tag that would make a signing key of any key', { tags: { 'signing-key': 'x' } }, /tags.signing-key/],
    ['a tag that is not the stage’s to give', { tags: 'stage=prod' }, /tags.stage/],
    ['a tag that AWS keeps to itself', { tags: { 'aws:x': 'y' } }, /tags.aws:x/],
    ['a deletion that KMS would refuse', { signingKeyDeletionDays: 3 }, /signingKeyDeletionDays/],
  ])('refuses %s and names it', (_what, values, message) => {
    expect(() => readConfig({ stage: 'local', ...values })).toThrow(message)
  })

  it('lets a laptop publish keys for seconds, but no deployment', () => {
    expect(readConfig({ stage: 'local', signingKeyPublishSeconds: 1 }).signingKeyPublishSeconds).toBe(1)
    expect(() => readConfig({ stage: 'dev', signingKeyPublishSeconds: 7_199 })).toThrow(/at least 7200/)
  })

  it.each([
    ['prod', true],
    ['dev', false],
    ['local', false],
  ])('protects the data of %s: %s', (stage, protect) => {
    expect(readConfig({ stage }).protectData).toBe(protect)
  })
})

import * as v from 'valibot'
import { expect, it } from 'vitest'
import { Settings } from '../../shared/settings.ts'

it('without a configuration, lifetimes and limits are those that clients are promised', () => {
  expect(v.parse(Settings, {})).toMatchObject({
    accessTokenTtlSeconds: 86_400,
    authorizationCodeTtlSeconds: 60,
    loginTicketTtlSeconds: 600,
    signingKeySpec: 'RSA_2048',
    signingKeyRotationDays: 30,
    signingKeyPublishSeconds: 86_400,
    signingKeyRetireMarginSeconds: 7_200,
    signingKeyDeletionDays: 30,
    exportCap: 10_000,
    quoteCurrency: 'USDT',
    rewardCurrency: 'USDT',
    reportingTimeZone: 'UTC',
  })
})

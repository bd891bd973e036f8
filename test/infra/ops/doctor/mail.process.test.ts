import { expect, it } from 'vitest'
import { checkMail } from '../../../../infra/ops/doctor/mail.ts'
import { fakeAws } from '../../../support/fake-aws.ts'

const production = {
  ProductionAccessEnabled: true,
  SendingEnabled: true,
  SendQuota: { Max24HourSend: 50_000, SentLast24Hours: 12 },
}
const verified = { VerifiedForSendingStatus: true }

/** SES is faked, because the local SES never fails to send. */
const check = (identities: Record<string, object>, account: object = production) =>
  fakeAws(
    (request, response) => {
      const name = decodeURIComponent(request.url?.split('/identities/')[1] ?? '')
      const found = request.url === '/v2/email/account' ? account : identities[name]
      response.setHeader('content-type', 'application/json')
      if (found) return void response.end(JSON.stringify(found))
      response.writeHead(404, { 'x-amzn-errortype': 'NotFoundException' }).end('{}')
    },
    () => checkMail('no-reply@mail.example.com'),
  )

it.each(['no-reply@mail.example.com', 'mail.example.com', 'example.com'])(
  'doctor accepts a sender if SES has verified its identity %s',
  async (identity) => {
    expect(await check({ [identity]: verified })).toEqual({
      ok: true,
      words: `SES sends from no-reply@mail.example.com, by its identity ${identity}; 12 mails sent in 24 hours, of at most 50000`,
    })
  },
)

it('doctor mentions no quota for mails if the account has no such quota', async () => {
  const account = { ...production, SendQuota: { Max24HourSend: -1, SentLast24Hours: 0 } }
  expect((await check({ 'example.com': verified }, account)).words).toMatch(/; 0 mails sent in 24 hours$/)
})

it('doctor lists all identities of a sender if SES has verified none of them', async () => {
  const pending = { 'mail.example.com': { VerifiedForSendingStatus: false } }
  for (const identities of [{}, pending])
    expect(await check(identities)).toEqual({
      ok: false,
      words:
        'SES has verified neither no-reply@mail.example.com nor mail.example.com nor example.com: no mail can be sent',
    })
})

it.each([
  [
    'the sandbox',
    { ProductionAccessEnabled: false, SendQuota: { Max24HourSend: 200, SentLast24Hours: 3 } },
    'the account is in the SES sandbox (3 mails sent in 24 hours, of at most 200, to verified recipients only): request production access',
  ],
  ['a paused account', { SendingEnabled: false }, 'SES has switched off sending for the account'],
  [
    'a quota that is used up',
    { SendQuota: { Max24HourSend: 100, SentLast24Hours: 100 } },
    'the quota of SES is used up (100 mails sent in 24 hours, of at most 100)',
  ],
])('`doctor` reports what keeps SES from sending: %s', async (_what, account, words) => {
  const found = await check({ 'example.com': verified }, { ...production, ...account })
  expect(found).toEqual({ ok: false, words })
})

it('doctor reports a problem if an SES identity has a default configuration set', async () => {
  const identities = { 'example.com': { ...verified, ConfigurationSetName: 'tracking' } }
  const { ok, words } = await check(identities)
  expect(ok).toBe(false)
  expect(words).toContain('the identity example.com has the default configuration set tracking')
})

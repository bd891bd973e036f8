import { expect, it } from 'vitest'
import { checkStandby } from '../../../../infra/ops/doctor/standby.ts'
import { fakeAws } from '../../../support/fake-aws.ts'

/** Checks a standby region against a faked AWS, because DynamoDB Local has no replicas. */
const check = (replicas: object[] | undefined, productionRegions: string[]) =>
  fakeAws(
    (request, response) => {
      const [, region = ''] = /Credential=[^/]+\/\d+\/([^/]+)/.exec(request.headers.authorization ?? '') ?? []
      const production = productionRegions.includes(region)
      const quota = { SendingEnabled: true, SendQuota: { Max24HourSend: 9 } }
      const answer =
        request.method === 'POST'
          ? { Table: { TableName: 'table', Replicas: replicas } }
          : request.url === '/v2/email/account'
            ? { ProductionAccessEnabled: production, ...quota }
            : { VerifiedForSendingStatus: true }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    },
    () => checkStandby('table', 'eu-west-1', 'no-reply@example.com'),
  )

const active = { RegionName: 'eu-west-1', ReplicaStatus: 'ACTIVE' }

it('doctor accepts a standby region in which a replica is active and SES can send mails', async () => {
  expect(await check([active], ['eu-west-1'])).toEqual({
    ok: true,
    words: 'eu-west-1: has a replica of the table, and mails can be sent',
  })
})

it.each([
  ['is missing', undefined],
  ['is missing', [{ ...active, RegionName: 'eu-west-3' }]],
  ['is REGION_DISABLED', [{ ...active, ReplicaStatus: 'REGION_DISABLED' }]],
])('doctor reports that the replica %s', async (words, replicas) => {
  const found = await check(replicas, ['eu-west-1'])
  expect(found).toEqual({ ok: false, words: `eu-west-1: the replica of table ${words}` })
})

it('doctor reports an SES sandbox in the standby region, whatever the stage’s own region has', async () => {
  const { ok, words } = await check([active], ['us-east-1'])
  expect(ok).toBe(false)
  expect(words).toContain('eu-west-1: the account is in the SES sandbox')
})

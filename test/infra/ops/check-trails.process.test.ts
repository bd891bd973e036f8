import { expect, it } from 'vitest'
import { checkTrails } from '../../../infra/ops/check-trails.ts'
import { fakeAws } from '../../support/fake-aws.ts'

const kms = 'kms.amazonaws.com'
const arn = 'arn:aws:cloudtrail:eu-west-1:123456789012:trail/all'
const basic = { IncludeManagementEvents: true, ReadWriteType: 'All', ExcludeManagementEventSources: [] }
const management = { Field: 'eventCategory', Equals: ['Management'] }
const advanced = (...fields: object[]) => ({ AdvancedEventSelectors: [{ FieldSelectors: fields }] })

/** Runs checkTrails against a fake CloudTrail with one trail, or with none if `selectors` is undefined. */
const check = (selectors?: object, status: object = { IsLogging: true }) =>
  fakeAws(
    (request, response) => {
      const operation = String(request.headers['x-amz-target']).split('.').at(-1)
      const answers: Record<string, object> = {
        DescribeTrails: { trailList: selectors ? [{ TrailARN: arn }] : [] },
        GetTrailStatus: status,
        GetEventSelectors: selectors ?? {},
      }
      response.setHeader('content-type', 'application/x-amz-json-1.1')
      response.end(JSON.stringify(answers[operation ?? '']))
    },
    () => checkTrails({ stage: 'prod', hasAlarms: true }),
  )

it.each([
  ['by default', { EventSelectors: [basic] }],
  ['by advanced selectors', advanced(management)],
  ['by KMS’s name', advanced(management, { Field: 'eventSource', Equals: [kms] })],
  ['by excluding other services', advanced(management, { Field: 'eventSource', NotEquals: ['rds'] })],
])(
  '`doctor` and `audit` accept a CloudTrail trail that selects the calls to KMS %s',
  async (_how, selectors) => {
    expect(await check(selectors)).toEqual({ ok: true, words: `${arn} logs every call of KMS` })
  },
)

it.each([
  ['is stopped', { EventSelectors: [basic] }, { IsLogging: false }],
  ['cannot store its files (X)', { EventSelectors: [basic] }, { IsLogging: true, LatestDeliveryError: 'X' }],
  ...[
    { EventSelectors: [{ ...basic, ExcludeManagementEventSources: [kms] }] },
    { EventSelectors: [{ ...basic, IncludeManagementEvents: false }] },
    { EventSelectors: [{ ...basic, ReadWriteType: 'WriteOnly' }] },
    advanced(management, { Field: 'eventSource', NotEquals: [kms] }),
    advanced(management, { Field: 'readOnly', Equals: ['false'] }),
    advanced({ Field: 'eventCategory', Equals: ['Data'] }),
  ].map((selectors): [string, object] => ['leaves out calls of KMS', selectors]),
])(
  '`doctor` and `audit` report a CloudTrail trail that %s: %j',
  async (problem, selectors, status?: object) => {
    const { ok, words } = await check(selectors, status)
    expect(ok).toBe(false)
    expect(words).toContain('no trail logs every call of KMS')
    expect(words).toContain(`; ${arn} ${problem}`)
  },
)

it('if an account has no CloudTrail trail, `doctor` and `audit` report this only for a stage with alarms', async () => {
  expect(await check()).toMatchObject({ ok: false, words: expect.stringContaining('auditTrail') as string })
  const words = async (stage: string) => (await checkTrails({ stage, hasAlarms: false })).words
  expect(await words('local')).toBe('the local stack has no CloudTrail')
  expect(await words('dev')).toBe('not needed, as the stage has no alarms')
})

import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type CloudWatch, openCloudWatch } from '../../../../../infra/local/aws/cloudwatch/cloudwatch.ts'
import { recordEmbeddedMetrics } from '../../../../../infra/local/aws/cloudwatch/embedded-metrics.ts'
import type { AlarmModel, CompositeAlarmModel } from '../../../../../infra/local/model.ts'

const metric = { namespace: 'AWS/Lambda', name: 'Errors', dimensions: { FunctionName: 'one' } }
const arnOf = (name: string) => `arn:aws:cloudwatch:eu-central-1:123456789012:alarm:${name}`

const alarm = (changes: Partial<AlarmModel> & { statistic?: string; seconds?: number } = {}): AlarmModel => ({
  name: 'errors',
  arn: arnOf(changes.name ?? 'errors'),
  description: '',
  notifies: false,
  queries: [
    { id: 'metric', metric, statistic: changes.statistic ?? 'Sum', periodSeconds: changes.seconds ?? 300 },
  ],
  expression: 'metric',
  threshold: 3,
  comparison: 'GreaterThanOrEqualToThreshold',
  evaluationPeriods: 1,
  missingIsBreaching: false,
  ...changes,
})

const composite = (
  name: string,
  members: string[],
  suppressor?: CompositeAlarmModel['suppressor'],
): CompositeAlarmModel => ({
  name,
  arn: arnOf(name),
  description: '',
  notifies: true,
  rule: `(${members.map((member) => `ALARM("${arnOf(member)}")`).join(' OR ')})`,
  suppressor,
})

const open = (alarms: AlarmModel[], compositeAlarms: CompositeAlarmModel[] = []) =>
  openCloudWatch({ alarms, compositeAlarms })

const raised = (cloudwatch: CloudWatch) =>
  cloudwatch
    .alarms()
    .filter((view) => view.raised)
    .map((view) => view.alarm.name)

const told = ({ notifications }: CloudWatch) => notifications.map((one) => one.alarm)

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 22, 12, 0, 30) })
  return () => vi.useRealTimers()
})

describe('an alarm on a metric', () => {
  it('is raised once the minute has ended, and lowered when its period looks back to it no more', () => {
    const cloudwatch = open([alarm()])
    for (let error = 0; error < 3; error += 1) cloudwatch.record(metric, 1)
    expect(raised(cloudwatch)).toEqual([])
    cloudwatch.advance(1)
    expect(raised(cloudwatch)).toEqual(['errors'])
    expect(cloudwatch.alarms()[0]?.since).toBe(Date.UTC(2026, 10, 22, 12, 1))
    cloudwatch.advance(4)
    expect(raised(cloudwatch)).toEqual(['errors'])
    cloudwatch.advance(1)
    expect(raised(cloudwatch)).toEqual([])
  })

  it('with actions notifies once, each time that it is raised', () => {
    const cloudwatch = open([alarm({ notifies: true })])
    for (const times of [1, 2]) {
      cloudwatch.record(metric, 3)
      cloudwatch.advance(4)
      expect(told(cloudwatch)).toEqual(Array.from({ length: times }, () => 'errors'))
      cloudwatch.advance(4)
    }
  })

  it('that is changed keeps its state until it is evaluated, then by its new metric', () => {
    const next = { ...metric, dimensions: { FunctionName: 'two' } }
    const cloudwatch = open([alarm({ notifies: true })])
    cloudwatch.record(metric, 3)
    cloudwatch.advance(1)
    const [query] = alarm().queries
    cloudwatch.put(alarm({ notifies: true, queries: query ? [{ ...query, metric: next }] : [] }))
    expect(raised(cloudwatch)).toEqual(['errors'])
    cloudwatch.advance(1)
    expect(raised(cloudwatch)).toEqual([])
    cloudwatch.record(next, 3)
    cloudwatch.advance(1)
    expect(raised(cloudwatch)).toEqual(['errors'])
    expect(told(cloudwatch)).toEqual(['errors', 'errors'])
  })

  it('counts what was measured before the clock was moved at the time at which it was measured', () => {
    const cloudwatch = open([alarm()])
    const before = Date.now()
    vi.advanceTimersByTime(1)
    cloudwatch.advance(60)
    cloudwatch.record(metric, 3, before)
    cloudwatch.advance(1)
    expect(raised(cloudwatch)).toEqual([])
  })

  it('needs all of its periods', () => {
    const cloudwatch = open([alarm({ evaluationPeriods: 2 })])
    cloudwatch.record(metric, 3)
    cloudwatch.advance(5)
    expect(raised(cloudwatch)).toEqual([])
    cloudwatch.record(metric, 3)
    cloudwatch.advance(1)
    expect(raised(cloudwatch)).toEqual(['errors'])
  })

  it('takes missing data for what it says', () => {
    const silent = alarm({
      name: 'silent',
      seconds: 3600,
      threshold: 0,
      comparison: 'LessThanOrEqualToThreshold',
      missingIsBreaching: true,
    })
    const cloudwatch = open([alarm(), silent])
    cloudwatch.record(metric, 1)
    cloudwatch.advance(60)
    expect(raised(cloudwatch)).toEqual([])
    cloudwatch.advance(1)
    expect(raised(cloudwatch)).toEqual(['silent'])
  })

  it.each([
    ['Sum', 103],
    ['Maximum', 100],
    ['Average', 25.75],
    ['p50', 1],
    ['p99', 100],
  ])('takes the statistic %s over all values of the period', (statistic, threshold) => {
    const values = [1, 1, 1, 100]
    for (const [limit, isRaised] of [
      [threshold, true],
      [threshold + 0.1, false],
    ] as const) {
      const cloudwatch = open([alarm({ statistic, threshold: limit })])
      for (const value of values) cloudwatch.record(metric, value)
      cloudwatch.advance(1)
      expect(raised(cloudwatch)).toEqual(isRaised ? ['errors'] : [])
    }
  })

  it.each([
    [alarm({ statistic: 'IQM' }), 'the statistic IQM is not known here'],
    [alarm({ expression: '1 + 1' }), 'is on a number'],
    [
      alarm({
        queries: [
          {
            id: 'metric',
            metric: { ...metric, namespace: 'AWS/DynamoDB' },
            statistic: 'Sum',
            periodSeconds: 60,
          },
        ],
      }),
      'must FILL missing data',
    ],
  ])('is refused at the start if it cannot be emulated, or would stay raised on AWS', (refused, problem) => {
    expect(() => open([refused])).toThrow(problem)
  })
})

describe('a composite alarm', () => {
  const suppressed = composite('journey', ['errors'], {
    arn: arnOf('shared'),
    waitSeconds: 120,
    extensionSeconds: 300,
  })
  const throttles = { ...metric, name: 'Throttles' }
  const other = alarm({
    name: 'throttles',
    queries: [{ id: 'metric', metric: throttles, statistic: 'Sum', periodSeconds: 60 }],
  })

  it('is raised with any of its alarms, also through another one that stands behind it', () => {
    const cloudwatch = open([alarm()], [composite('all', ['journey']), composite('journey', ['errors'])])
    cloudwatch.record(metric, 3)
    cloudwatch.advance(1)
    expect(raised(cloudwatch)).toEqual(['errors', 'all', 'journey'])
  })

  it('notifies once, however long it lasts, and again when it is raised again', () => {
    const cloudwatch = open([alarm()], [composite('journey', ['errors'])])
    for (const times of [1, 2]) {
      cloudwatch.record(metric, 3)
      cloudwatch.advance(4)
      expect(told(cloudwatch)).toHaveLength(times)
      cloudwatch.advance(4)
    }
  })

  it('with a suppressor waits whether that is raised, and notifies if it is not', () => {
    const cloudwatch = open([alarm(), other], [composite('shared', ['throttles']), suppressed])
    cloudwatch.record(metric, 3)
    cloudwatch.advance(2)
    expect(told(cloudwatch)).toEqual([])
    cloudwatch.advance(1)
    expect(told(cloudwatch)).toEqual(['journey'])
  })

  it('is silent while its suppressor is raised, and for the extension period after it', () => {
    const cloudwatch = open(
      [alarm({ seconds: 900 }), other],
      [composite('shared', ['throttles']), suppressed],
    )
    cloudwatch.record(metric, 3)
    cloudwatch.advance(1)
    cloudwatch.record(throttles, 3)
    cloudwatch.advance(1)
    expect(told(cloudwatch)).toEqual(['shared'])
    cloudwatch.advance(4)
    expect(told(cloudwatch)).toEqual(['shared'])
    cloudwatch.advance(1)
    expect(told(cloudwatch)).toEqual(['shared', 'journey'])
  })

  it('with another rule than OR is refused at the start', () => {
    const rule = `NOT ALARM("${arnOf('errors')}")`
    expect(() => open([alarm()], [{ ...composite('x', []), rule }])).toThrow('is not known here')
  })
})

describe('log lines', () => {
  it('a line in the embedded metric format counts with its namespace, name, dimensions and time', () => {
    const record = vi.fn()
    const told = {
      Timestamp: 42,
      CloudWatchMetrics: [
        { Namespace: 'service', Dimensions: [['failure']], Metrics: [{ Name: 'Failures', Unit: 'Count' }] },
      ],
    }
    recordEmbeddedMetrics(JSON.stringify({ _aws: told, failure: 'internal', Failures: 2 }), record)
    const dimensions = { failure: 'internal' }
    expect(record.mock.calls).toEqual([[{ namespace: 'service', name: 'Failures', dimensions }, 2, 42]])
  })

  it.each(['{"_aws":', '{"_aws":{}}', '{"level":"INFO"}', 'START'])('%s is no metric', (line) => {
    const record = vi.fn()
    recordEmbeddedMetrics(line, record)
    expect(record).not.toHaveBeenCalled()
  })
})

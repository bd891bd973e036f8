import type { AlarmModel, CompositeAlarmModel } from '../../model.ts'
import { compileMetricMath } from './metric-math.ts'
import { type Metrics, minuteMilliseconds, readStatistic } from './metrics.ts'

/** Tells whether an alarm is raised at a full minute, by the minutes that have ended. */
export type IsRaised = (minute: number) => boolean

const comparisons: Record<AlarmModel['comparison'], (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
}

/**
 * Compiles an alarm: it is raised when each of its periods, of which the last ends now, is over the
 * threshold. Throws for what is not emulated, and for an alarm that CloudWatch would never lower again.
 */
export function compileAlarm(alarm: AlarmModel, metrics: Metrics): IsRaised {
  const { name, queries, threshold, evaluationPeriods, missingIsBreaching } = alarm
  const isOver = comparisons[alarm.comparison]
  const minutes = periodMinutes(alarm)
  const series = new Map(
    queries.map(({ id, metric, statistic }) => [id, { metric, statistic: readStatistic(statistic) }]),
  )
  const math = compileMetricMath(alarm.expression, [...series.keys()])
  if (math.type !== 'time series') throw new Error(`alarm ${name} is on a number, not on a time series`)
  // CloudWatch may ignore the missing data of this namespace, whatever the alarm says (API: PutMetricAlarm).
  const isTable = queries.some(({ metric: { namespace } }) => namespace === 'AWS/DynamoDB')
  if (isTable && math.compute(() => undefined) === undefined)
    throw new Error(`alarm ${name} must FILL missing data, which CloudWatch ignores for tables`)
  const isBreaching = (from: number): boolean => {
    const value = math.compute((id) => {
      const { metric, statistic } = series.get(id) ?? refuseId(name, id)
      return metrics.compute(metric, statistic, from, from + minutes)
    })
    return value === undefined ? missingIsBreaching : isOver(value, threshold)
  }
  return (minute) =>
    Array.from({ length: evaluationPeriods }, (_, period) => minute - (period + 1) * minutes).every(
      isBreaching,
    )
}

/** Number of the minutes over which an alarm looks back. */
export const windowMinutes = (alarm: AlarmModel): number => periodMinutes(alarm) * alarm.evaluationPeriods

function periodMinutes({ name, queries }: AlarmModel): number {
  const [minutes = 0, ...others] = new Set(
    queries.map(({ periodSeconds }) => (periodSeconds * 1_000) / minuteMilliseconds),
  )
  if (others.length > 0 || minutes < 1) throw new Error(`alarm ${name} has periods that are not known here`)
  return minutes
}

const refuseId = (alarm: string, id: string): never => {
  throw new Error(`alarm ${alarm} has no metric ${id}`)
}

/** Reads the ARNs of the alarms of which one is enough to raise a composite alarm. Throws for other rules. */
export function readRule({ name, rule }: CompositeAlarmModel): string[] {
  const member = /ALARM\("([^"]+)"\)/g
  if (rule.replaceAll(member, '').replaceAll(' OR ', '') !== '()')
    throw new Error(`the rule of alarm ${name} is not known here: ${rule}`)
  return [...rule.matchAll(member)].map(([, arn = '']) => arn)
}

import type { Clock } from './clock.ts'

/** A metric: CloudWatch tells metrics apart by all of these. */
export interface Metric {
  namespace: string
  name: string
  dimensions: Record<string, string>
}

/** Records a value of a metric, measured at this machine time, epoch milliseconds. Default: now. */
export type RecordMetric = (metric: Metric, value: number, at?: number) => void

/** Statistics of a period, by CloudWatch's names: see `readStatistic`. */
export type Statistic = (samples: Samples) => number

/** The values of a period, and how often each was recorded; never empty. */
type Samples = [value: number, count: number][]

export const minuteMilliseconds = 60_000

const sum: Statistic = (samples) => samples.reduce((total, [value, count]) => total + value * count, 0)
const countSamples = (samples: Samples) => samples.reduce((total, [, count]) => total + count, 0)
const statistics: Record<string, Statistic> = {
  Sum: sum,
  Maximum: (samples) => Math.max(...samples.map(([value]) => value)),
  Average: (samples) => sum(samples) / countSamples(samples),
  SampleCount: countSamples,
}

/** Reads the name of a statistic, such as `Sum` or `p99`. Throws for one that no alarm uses. */
export function readStatistic(name: string): Statistic {
  const percent = Number(/^p(\d{1,2})$/.exec(name)?.[1])
  const statistic = Number.isNaN(percent) ? statistics[name] : percentile(percent)
  if (statistic === undefined) throw new Error(`the statistic ${name} is not known here`)
  return statistic
}

const percentile =
  (percent: number): Statistic =>
  (samples) => {
    let left = (countSamples(samples) * percent) / 100
    const sorted = samples.toSorted(([a], [b]) => a - b)
    return (sorted.find(([, count]) => (left -= count) <= 0) ?? sorted.at(-1) ?? [0])[0]
  }

const keyOf = ({ namespace, name, dimensions }: Metric): string =>
  JSON.stringify([namespace, name, Object.entries(dimensions).sort()])

/** The recorded values of all metrics, by minute. Everything is lost when the local stack stops. */
export class Metrics {
  readonly #series = new Map<string, Map<number, Map<number, number>>>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly record: RecordMetric = (metric, value, at) => this.put(metric, value, this.#clock.read(at))

  /** Records a value at a time of the metrics' own clock. */
  put(metric: Metric, value: number, at: number): void {
    const key = keyOf(metric)
    const minutes = this.#series.get(key) ?? new Map<number, Map<number, number>>()
    this.#series.set(key, minutes)
    const minute = Math.floor(at / minuteMilliseconds)
    const counts = minutes.get(minute) ?? new Map<number, number>()
    minutes.set(minute, counts)
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }

  /** Whether any value of this metric was ever recorded. */
  has(metric: Metric): boolean {
    return this.#series.has(keyOf(metric))
  }

  /** Computes a statistic over the minutes from `from` on and before `to`; undefined without a value. */
  compute(metric: Metric, statistic: Statistic, from: number, to: number): number | undefined {
    const minutes = this.#series.get(keyOf(metric))
    if (minutes === undefined) return undefined
    const samples: Samples = []
    for (let minute = from; minute < to; minute += 1) samples.push(...(minutes.get(minute) ?? []))
    return samples.length === 0 ? undefined : statistic(samples)
  }

  /** Forgets the values of all minutes before this one. */
  forget(before: number): void {
    for (const minutes of this.#series.values())
      for (const minute of minutes.keys()) if (minute < before) minutes.delete(minute)
  }
}

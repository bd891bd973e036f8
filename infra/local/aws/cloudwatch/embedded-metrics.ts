import * as v from 'valibot'
import type { RecordMetric } from './metrics.ts'

/** A log line in the embedded metric format (CloudWatch: specification of the embedded metric format). */
const EmbeddedLine = v.looseObject({
  _aws: v.object({
    Timestamp: v.number(),
    CloudWatchMetrics: v.array(
      v.object({
        Namespace: v.string(),
        Dimensions: v.array(v.array(v.string())),
        Metrics: v.array(v.object({ Name: v.string() })),
      }),
    ),
  }),
})

/** Records the metrics of a log line, if it has any, as CloudWatch extracts them. */
export function recordEmbeddedMetrics(line: string, record: RecordMetric): void {
  if (!line.startsWith('{"_aws"')) return
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), EmbeddedLine), line)
  if (!parsed.success) return
  const { _aws: told, ...values } = parsed.output
  for (const { Namespace: namespace, Dimensions, Metrics } of told.CloudWatchMetrics)
    for (const names of Dimensions)
      for (const { Name: name } of Metrics) {
        const dimensions = Object.fromEntries(names.map((key) => [key, String(values[key])]))
        record({ namespace, name, dimensions }, Number(values[name]), told.Timestamp)
      }
}

import { vi } from 'vitest'

/** A metric that a function has emitted. */
export interface EmittedMetric {
  name: string
  value: unknown
  dimensions: Record<string, unknown>
}

/** Runs a function and resolves with the metrics that it emitted. */
export async function emittedMetrics(run: () => Promise<unknown>): Promise<EmittedMetric[]> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await run()
    return write.mock.calls.flatMap(([text]) => readMetric(String(text)))
  } finally {
    write.mockRestore()
  }
}

function readMetric(text: string): EmittedMetric[] {
  if (!text.startsWith('{"_aws"')) return []
  const { _aws: told, ...values } = JSON.parse(text) as {
    _aws: { CloudWatchMetrics: [{ Metrics: [{ Name: string }]; Dimensions: [string[]] }] }
  } & Record<string, unknown>
  const [{ Metrics: metrics, Dimensions: dimensions }] = told.CloudWatchMetrics
  const name = metrics[0].Name
  return [
    {
      name,
      value: values[name],
      dimensions: Object.fromEntries(dimensions[0].map((key) => [key, values[key]])),
    },
  ]
}

// Drops the log lines and metrics that functions write to standard output: a run has thousands of them. A
// test that reads them replaces `write` temporarily: see emitted-metrics.ts.
const write = process.stdout.write.bind(process.stdout) as (...parameters: unknown[]) => boolean

process.stdout.write = (...parameters: unknown[]) =>
  /^\{"(_aws|level)"/.test(String(parameters[0])) || write(...parameters)

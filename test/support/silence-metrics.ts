// Drops the metrics that functions write to standard output, because they are thousands of lines in a run. A
// test that reads metrics replaces `write` temporarily: see emitted-metrics.ts.
const write = process.stdout.write.bind(process.stdout) as (...parameters: unknown[]) => boolean

process.stdout.write = (...parameters: unknown[]) =>
  String(parameters[0]).startsWith('{"_aws"') || write(...parameters)

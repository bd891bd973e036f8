// Functions write their metrics to standard output, thousands of lines in a test run, so they are dropped
// here. A test that reads them replaces `write` temporarily: see emitted-metrics.ts.
const write = process.stdout.write.bind(process.stdout) as (...parameters: unknown[]) => boolean

process.stdout.write = (...parameters: unknown[]) =>
  String(parameters[0]).startsWith('{"_aws"') || write(...parameters)

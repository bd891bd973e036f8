// Functions write their metrics to standard output, thousands of lines in a run of the tests. They are
// dropped here; a test that wants to see them replaces `write` for a while: see emitted-metrics.ts.
const write = process.stdout.write.bind(process.stdout) as (...parameters: unknown[]) => boolean

process.stdout.write = (...parameters: unknown[]) =>
  String(parameters[0]).startsWith('{"_aws"') || write(...parameters)

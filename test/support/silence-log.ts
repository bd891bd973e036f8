// Drops the thousands of log lines and metrics that functions write to standard output during a test run.
const write = process.stdout.write.bind(process.stdout) as (...parameters: unknown[]) => boolean

process.stdout.write = (...parameters: unknown[]) =>
  /^\{"(_aws|level)"/.test(String(parameters[0])) || write(...parameters)

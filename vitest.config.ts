import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

// Functions tell the time by UTC, as on Lambda; threads share the zone of their process.
process.env.TZ = 'UTC'

/** Tests with a configuration of their own: see package.json. */
const elsewhere = ['test/browser/**', 'test/spreadsheet/**', 'test/bench/**']

const common = {
  pool: 'threads',
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // The function's log would drown what the test runner prints.
  env: { POWERTOOLS_LOG_LEVEL: 'SILENT' },
} as const

/** Enough for modules to load whose AWS clients are made at import; nothing answers there. */
const nowhere = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  METRICS_NAMESPACE: 'none',
  BASE_URL: 'https://api.example.com',
  TABLE_NAME: 'none',
}

/** A project whose files end in `.NAME.test.ts`. */
const project = (
  name: string,
  test: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration => ({
  test: { ...common, name, include: [`test/**/*.${name}.test.ts`], exclude: elsewhere, ...test },
})

/**
 * What a test file needs stands in its name, and it pays for nothing else:
 * - `x.test.ts`, unit: nothing. A socket, a process or a thread fails the test.
 * - `x.process.test.ts`: servers, processes or threads that the file itself starts and stops.
 * - `x.table.test.ts`: the service's table and keys (DynamoDB Local, KMS), shared by all such files; the code under test
 * runs in the test's own process with the environment of a function.
 * - `x.stack.test.ts`: the whole local stack, shared by all such files.
 */
export default defineConfig({
  test: {
    globalSetup: 'test/support/api-reference.ts',
    allowOnly: false,
    // The default leaves a core free, but a worker waits for the shared servers half of its time.
    maxWorkers: 2,
    projects: [
      project('unit', {
        include: ['test/**/*.test.ts'],
        exclude: [...elsewhere, 'test/**/*.{process,table,stack}.test.ts'],
        env: { ...common.env, ...nowhere },
        setupFiles: ['test/support/silence-metrics.ts', 'test/support/unit-guard.ts'],
      }),
      project('process', {
        env: { ...common.env, ...nowhere },
        setupFiles: [
          'test/support/silence-metrics.ts',
          'test/support/reap-processes.ts',
          'test/support/check-answers.ts',
        ],
      }),
      project('table', {
        globalSetup: 'test/support/table-setup.ts',
        setupFiles: ['test/support/silence-metrics.ts', 'test/support/function-environment.ts'],
      }),
      project('stack', {
        globalSetup: 'test/support/stack-setup.ts',
        setupFiles: [
          'test/support/silence-metrics.ts',
          'test/support/reap-processes.ts',
          'test/support/function-environment.ts',
          'test/support/check-answers.ts',
        ],
      }),
    ],
  },
})

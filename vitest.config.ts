import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/spreadsheet/**', 'test/bench/**'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: ['test/support/function-environment.ts', 'test/support/check-answers.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    allowOnly: false,
    pool: 'threads',
    // The default leaves a core free, but a worker waits for the shared stack half of its time.
    maxWorkers: 2,
  },
})

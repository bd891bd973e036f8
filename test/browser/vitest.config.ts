import { defineConfig } from 'vitest/config'

/** Vitest configuration of the tests in a real browser. They need Chromium: see support/launch-browser.ts. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/browser/support/serve-stack.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    allowOnly: false,
    pool: 'threads',
    // Test files run one after another: on two cores, two browsers at the same time are slower and make
    // timings unreliable.
    fileParallelism: false,
  },
})

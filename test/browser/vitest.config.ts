import { defineConfig } from 'vitest/config'

/** The pages in a real browser, against one local stack. Needs Chromium: see support/launch-browser.ts. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/browser/support/serve-stack.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    allowOnly: false,
    pool: 'threads',
    // Two browsers on two cores are slower than one after the other, and their timings less steady.
    fileParallelism: false,
  },
})

import { defineConfig } from 'vitest/config'

/** What a real spreadsheet makes of the files that the service gives out. Needs LibreOffice Calc. */
export default defineConfig({
  test: {
    include: ['test/spreadsheet/**/*.test.ts'],
    // Loading what reads the table makes its client, although nothing is read here.
    env: { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' },
    testTimeout: 120_000,
    allowOnly: false,
  },
})

import { defineConfig } from 'vitest/config'

/**
 * Vitest configuration of the tests that open the service's CSV files in LibreOffice Calc, which must be
 * installed.
 */
export default defineConfig({
  test: {
    include: ['test/spreadsheet/**/*.test.ts'],
    // The code under test creates an AWS client when it is loaded, but makes no calls.
    env: { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' },
    testTimeout: 120_000,
    allowOnly: false,
  },
})

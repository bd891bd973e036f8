import { useLocalStack } from './local-stack.ts'

// Gives a test file the environment of a function before it loads anything, so that what functions share runs in the
// test's own process against the shared stack. Its log would only drown what the test runner says.
const { environment } = await useLocalStack()
Object.assign(process.env, environment, { TZ: 'UTC', POWERTOOLS_LOG_LEVEL: 'SILENT' })

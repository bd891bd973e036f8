import { inject } from 'vitest'

// Gives a test file the environment of a function before it loads anything, so that what functions share runs
// in the test's own process against the table that the project's tests share.
const response = await fetch(inject('broker'))
if (!response.ok) throw new Error(await response.text())
const { environment } = (await response.json()) as { environment: Record<string, string> }
Object.assign(process.env, environment)

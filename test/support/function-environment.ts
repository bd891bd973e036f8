import { inject } from 'vitest'

// Sets the environment of a function before the test file loads any module. So code of shared/ runs in the
// test's own process, and uses the table that all tests of the project share.
const response = await fetch(inject('broker'))
if (!response.ok) throw new Error(await response.text())
const { environment } = (await response.json()) as { environment: Record<string, string> }
Object.assign(process.env, environment)

import { inject } from 'vitest'

// Gives this process the environment of a function, before the test file loads modules that read it.
const response = await fetch(inject('broker'))
if (!response.ok) throw new Error(await response.text())
const { environment } = (await response.json()) as { environment: Record<string, string> }
Object.assign(process.env, environment)

import { afterAll, vi } from 'vitest'

// The test files of a worker share its process and modules, which saves half of the time. So the environment,
// the clock and the spied functions are restored after each file.
const found = { ...process.env }

afterAll(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  for (const name of Object.keys(process.env)) if (!(name in found)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, found)
})

import { afterAll, afterEach, vi } from 'vitest'

// The test files of a worker share its modules and environment, which saves half of the time. So this module
// restores the clock, spies and stubs after each test, and the environment after each test file.
const found = { ...process.env }

const restore = () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
}

afterEach(restore)
afterAll(() => {
  restore()
  for (const name of Object.keys(process.env)) if (!(name in found)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, found)
})

import { afterAll, afterEach, vi } from 'vitest'

// Restores the clock, spies and stubs after each test, and the environment after each test file. The test
// files of a worker share modules and environment, which saves half of the time.
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

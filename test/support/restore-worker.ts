import { afterAll, afterEach, beforeEach, vi } from 'vitest'
import { db } from '../../shared/db/table.ts'

// The test files of a worker share its environment and modules, which saves half of the time. So the clock,
// spied functions and stubbed variables are restored after each test, the environment after each file.
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

// Modules of functions with a queue pause writes on the hour when they load. Without this, a test that sets
// the clock would wait if that time happens to be near a full hour.
beforeEach(() => void db.middlewareStack.remove('restOnTheHour'))

import { afterAll, it, vi } from 'vitest'
import { startOwnStack } from './own-stack.ts'

// Waits only half a second for running calls to end: here they take milliseconds, on AWS up to minutes.
vi.mock('../../../infra/ops/maintenance/limits.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  probing: { answers: 3, pauseMilliseconds: 50 },
  drainMilliseconds: () => 500,
}))

const stack = await startOwnStack()
const url = stack.baseUrl
// Imported after the stack has started, because these modules create AWS clients for the stack's address.
const { aStageRebuiltFromItsEvents } = await import('./a-stage-rebuilt-from-its-events.ts')
const { aTableRestoredToAFullHour } = await import('./a-table-restored-to-a-full-hour.ts')
const { peopleOf } = await import('./people.ts')

afterAll(() => stack.stop())

const people = peopleOf(url)
const layout = stack.model.tables[0]?.createTableInput ?? {}

const procedures: Record<string, () => Promise<void>> = {
  'A stage rebuilt from its events': () => aStageRebuiltFromItsEvents(url, people, layout),
  'A table restored to a full hour': () => aTableRestoredToAFullHour(url, people, layout),
}

it.each(Object.entries(procedures))(
  'the runbook’s procedure works: %s',
  { timeout: 240_000 },
  (_heading, follow) => follow(),
)

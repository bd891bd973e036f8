import { afterAll, it, vi } from 'vitest'
import { startOwnStack } from './own-stack.ts'

// Shortens the switch's wait for running calls: on AWS it takes minutes; here calls end within milliseconds.
vi.mock('../../../infra/ops/maintenance/limits.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  probing: { answers: 3, pauseMilliseconds: 50 },
  drainMilliseconds: () => 500,
}))

const stack = await startOwnStack()
const url = stack.baseUrl
// The rehearsals are imported only now, because they create AWS clients, which read the stack's address from
// the environment when they are loaded.
const { aStageRebuiltFromItsEvents } = await import('./a-stage-rebuilt-from-its-events.ts')
const { aTableRestoredToAFullHour } = await import('./a-table-restored-to-a-full-hour.ts')
const { peopleOf } = await import('./people.ts')

afterAll(() => stack.stop())

const people = peopleOf(url)
const layout = stack.model.tables[0]?.createTableInput ?? {}

/** Rehearsals of procedures, keyed by the procedure's heading; each runs the runbook's own commands. */
const rehearsals: Record<string, () => Promise<void>> = {
  'A stage rebuilt from its events': () => aStageRebuiltFromItsEvents(url, people, layout),
  'A table restored to a full hour': () => aTableRestoredToAFullHour(url, people, layout),
}

it.each(Object.entries(rehearsals))(
  'the runbook’s procedure works: %s',
  { timeout: 240_000 },
  (_heading, rehearse) => rehearse(),
)

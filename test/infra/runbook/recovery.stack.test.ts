import { afterAll, it, vi } from 'vitest'
import { useLocalStack } from '../../support/local-stack.ts'
import { startOwnStack } from './own-stack.ts'

// On AWS the switch waits minutes until what had begun has ended; here every call ends within milliseconds.
vi.mock('../../../infra/ops/maintenance/limits.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  probing: { answers: 3, pauseMilliseconds: 50 },
  drainMilliseconds: () => 500,
}))

// The stack of the project never fails: it lives through the same as the table that is restored.
const { drawLife, liveUnharmed } = await import('./life.ts')
const life = drawLife()
const readUnharmed = await liveUnharmed((await useLocalStack()).base_url, life)

vi.resetModules()
const stack = await startOwnStack()
const url = stack.baseUrl
// Imported only now, because these modules create AWS clients, which read the stack's address from the
// environment when they are loaded.
const { aStageRebuiltFromItsEvents } = await import('./a-stage-rebuilt-from-its-events.ts')
const { aTableRestoredToAPointInTime } = await import('./a-table-restored-to-a-point-in-time.ts')
const { peopleOf } = await import('./people.ts')

afterAll(() => stack.stop())

const people = peopleOf(url)
const layout = stack.model.tables[0]?.createTableInput ?? {}

/** A rehearsal of each procedure; it runs the runbook's own commands step by step. */
const rehearsals: Record<string, () => Promise<void>> = {
  'A stage rebuilt from its events': () => aStageRebuiltFromItsEvents(url, people, layout),
  'A table restored to a point in time': () =>
    aTableRestoredToAPointInTime(url, people, layout, life, readUnharmed),
}

it.each(Object.entries(rehearsals))(
  'the runbook’s procedure works: %s',
  { timeout: 240_000 },
  (_heading, rehearse) => rehearse(),
)

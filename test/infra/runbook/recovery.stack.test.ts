import { afterAll, it, vi } from 'vitest'
import { useLocalStack } from '../../support/local-stack.ts'
import type { migrateLedger } from '../../../infra/ops/migrate-ledger.ts'
import type { longProcedures } from './long-procedures.ts'
import { startOwnStack } from './own-stack.ts'

// On AWS the switch waits minutes until what had begun has ended; here every call ends within milliseconds.
vi.mock('../../../infra/ops/maintenance/limits.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  probing: { answers: 3, pauseMilliseconds: 50 },
  drainMilliseconds: () => 500,
}))

// A migration waits a minute until nobody reads the lists that it deletes; here reads take milliseconds.
vi.mock('../../../infra/ops/migrate-ledger.ts', async (importOriginal) => {
  const original = await importOriginal<{ migrateLedger: typeof migrateLedger }>()
  const migrateSoon: typeof migrateLedger = (ids, onProgress) =>
    original.migrateLedger(ids, onProgress, 1_000)
  return { ...original, migrateLedger: migrateSoon }
})

// The stack of the project never fails: it lives through the same as the table that is restored.
const { drawLife, liveUnharmed } = await import('./life.ts')
const life = drawLife()
const readUnharmed = await liveUnharmed((await useLocalStack()).base_url, life)

vi.resetModules()
const stack = await startOwnStack()
const url = stack.baseUrl
// Imported only now, because these modules create AWS clients, which read the stack's address from the
// environment when they are loaded.
const { aBadVersionInService } = await import('./a-bad-version-in-service.ts')
const { aKnownSecretOfTheApi } = await import('./a-known-secret-of-the-api.ts')
const { aLostRegion } = await import('./a-lost-region.ts')
const { aStageRebuiltFromItsEvents } = await import('./a-stage-rebuilt-from-its-events.ts')
const { aTableRestoredToAPointInTime } = await import('./a-table-restored-to-a-point-in-time.ts')
const { billsOfRelease1 } = await import('./bills-of-release-1.ts')
const { peopleOf } = await import('./people.ts')

afterAll(() => stack.stop())

const people = peopleOf(url)
const layout = stack.model.tables[0]?.createTableInput ?? {}

/** A rehearsal of each procedure; it runs the runbook's own commands step by step. */
const rehearsals: Record<(typeof longProcedures)[number], () => Promise<void>> = {
  'A stage rebuilt from its events': () => aStageRebuiltFromItsEvents(url, people, layout),
  'A table restored to a point in time': () =>
    aTableRestoredToAPointInTime(url, people, layout, life, readUnharmed),
  'A bad version in service': () => aBadVersionInService(stack),
  'A known address or secret of the API': () => aKnownSecretOfTheApi(stack, people),
  'Bills of release 1': () => billsOfRelease1(stack),
  'A lost region': () => aLostRegion(stack),
}

it.each(Object.entries(rehearsals))(
  'the runbook’s procedure works: %s',
  { timeout: 240_000 },
  (_heading, rehearse) => rehearse(),
)

import { afterAll, it, vi } from 'vitest'
import { startOwnStack } from './runbook/own-stack.ts'

// Shortens the switch's wait for running calls: on AWS it takes minutes; here calls end within milliseconds.
vi.mock('../../infra/ops/maintenance/limits.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  probing: { answers: 3, pauseMilliseconds: 50 },
  drainMilliseconds: () => 500,
}))

const stack = await startOwnStack()
// The rehearsals are imported only now, because they create AWS clients, which read the stack's address from
// the environment when they are loaded.
const { aFloodedDeadLetterQueue } = await import('./runbook/a-flooded-dead-letter-queue.ts')
const { aLeakedSigningKey } = await import('./runbook/a-leaked-signing-key.ts')
const { stoppingTheService } = await import('./runbook/stopping-the-service.ts')
const { peopleOf } = await import('./runbook/people.ts')

afterAll(() => stack.stop())

const url = stack.baseUrl
const people = peopleOf(url)

/** Rehearsals of procedures, keyed by the procedure's heading; each runs the runbook's own commands. */
const rehearsals: Record<string, () => Promise<void>> = {
  'Stopping the service': () => stoppingTheService(url, people),
  'A leaked signing key': () => aLeakedSigningKey(url, people),
  'A flooded dead-letter queue': () => aFloodedDeadLetterQueue(url),
}

it.each(Object.entries(rehearsals))(
  'the runbook’s procedure works: %s',
  { timeout: 120_000 },
  (_heading, rehearse) => rehearse(),
)

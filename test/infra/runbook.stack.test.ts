import { afterAll, it, vi } from 'vitest'
import { startOwnStack } from './runbook/own-stack.ts'

// Makes the maintenance command wait less, because calls take milliseconds here, but up to minutes on AWS.
vi.mock('../../infra/ops/maintenance/limits.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  probing: { answers: 3, pauseMilliseconds: 50 },
  drainMilliseconds: () => 500,
}))

const stack = await startOwnStack()
// Imports these modules after the stack's start, because they create AWS clients for the stack's address.
const { aFloodedDeadLetterQueue } = await import('./runbook/a-flooded-dead-letter-queue.ts')
const { aLeakedSigningKey } = await import('./runbook/a-leaked-signing-key.ts')
const { stoppingTheService } = await import('./runbook/stopping-the-service.ts')
const { peopleOf } = await import('./runbook/people.ts')

afterAll(() => stack.stop())

const url = stack.baseUrl
const people = peopleOf(url)

const procedures: Record<string, () => Promise<void>> = {
  'Stopping the service': () => stoppingTheService(url, people),
  'A leaked signing key': () => aLeakedSigningKey(url, people),
  'A flooded dead-letter queue': () => aFloodedDeadLetterQueue(url),
}

it.each(Object.entries(procedures))(
  'the runbook’s procedure works: %s',
  { timeout: 240_000 },
  (_heading, follow) => follow(),
)

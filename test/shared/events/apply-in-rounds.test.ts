import { afterEach, describe, expect, it, vi } from 'vitest'
import { applyInRounds, type ReceivedEvent, type TriedEvent } from '../../../shared/events/apply-in-rounds.ts'
import { newDelivery } from '../../../shared/events/delivery.ts'
import { RejectedEvent } from '../../../shared/events/rejected-event.ts'
import { toSqsEvent } from '../../support/sqs-event.ts'

/** A batch of events, each of which `apply` applies or throws why it cannot. */
const batchOf = (length: number, apply: (place: number) => void, receives = 1): ReceivedEvent[] =>
  toSqsEvent(Array.from({ length }, () => ({ body: '{}', receives }))).Records.map((message, place) => ({
    message,
    event: { detailType: 'test.happened', businessKey: String(place), delivery: newDelivery() },
    apply: async () => {
      apply(place)
      return { outcome: 'applied' }
    },
  }))

/** Applies a batch. Tells how often each event was tried, and which were applied, by their places. */
async function run(batch: ReceivedEvent[], startedAt = Date.now()) {
  const tries = new Map(batch.map(({ message }) => [message, 0]))
  const tryOnce = async (received: ReceivedEvent): Promise<TriedEvent> => {
    tries.set(received.message, (tries.get(received.message) ?? 0) + 1)
    return { ...received, result: await received.apply().catch((error: unknown) => ({ error })) }
  }
  const tried = await applyInRounds(batch, startedAt, tryOnce)
  expect(tried).toHaveLength(batch.length)
  const applied = tried.filter(({ result }) => 'outcome' in result).map(({ event }) => event.businessKey)
  return { tries: [...tries.values()], applied: applied.sort() }
}

afterEach(() => vi.useRealTimers())

const tooEarly = () => {
  throw new RejectedEvent('insufficient_balance')
}

describe('a batch of which an event', () => {
  it('needs the one behind it is applied in a second round, even if no time is left to wait', async () => {
    let isThere = false
    const batch = batchOf(2, (place) => {
      if (place === 1) isThere = true
      else if (!isThere) tooEarly()
    })
    expect(await run(batch, 0)).toEqual({ tries: [2, 1], applied: ['0', '1'] })
  })

  it('needs one of another batch is applied when that one comes during a pause', async () => {
    // The clock stands still, so that there is time for the pause on a busy machine, too.
    vi.useFakeTimers({ toFake: ['Date'] })
    let isThere = false
    // Three events, each of which needs the one before it, and the first needs one of another batch.
    const applied = new Set<number>()
    const batch = batchOf(3, (place) => {
      if (!isThere || (place > 0 && !applied.has(place - 1))) tooEarly()
      applied.add(place)
    })
    setImmediate(() => (isThere = true))
    expect(await run(batch)).toEqual({ tries: [2, 2, 2], applied: ['0', '1', '2'] })
  })

  it('is refused for good is not tried again', async () => {
    const refuse = () => {
      throw new RejectedEvent('conflicting_content')
    }
    expect(await run(batchOf(1, refuse))).toEqual({ tries: [1], applied: [] })
  })

  it('fails for another reason is not tried again', async () => {
    const fail = () => {
      throw new Error('the table is down')
    }
    expect(await run(batchOf(1, fail))).toEqual({ tries: [1], applied: [] })
  })

  it('stays too early is tried after growing pauses, the longest under a quarter of a second', async () => {
    // The clock stands still, so only the lengths of the pauses count: 50, 100 and 200 ms.
    vi.useFakeTimers({ toFake: ['Date'] })
    expect(await run(batchOf(1, tooEarly))).toEqual({ tries: [4], applied: [] })
  })

  it('stays too early is not tried again when a quarter of a second is over', async () => {
    expect(await run(batchOf(1, tooEarly), Date.now() - 250)).toEqual({ tries: [1], applied: [] })
  })

  it('has been received three times before is not waited for', async () => {
    expect(await run(batchOf(1, tooEarly, 4))).toEqual({ tries: [1], applied: [] })
  })
})

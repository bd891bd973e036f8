import { setTimeout as wait } from 'node:timers/promises'
import { db } from './table.ts'

const hourMilliseconds = 3_600_000

/**
 * The pause in writing begins this many milliseconds before a full hour. The last write reaches DynamoDB or
 * fails within three seconds (clientOptions). Two more seconds allow for DynamoDB's processing time and for
 * wrong clocks.
 */
const pauseBefore = 5_000

/**
 * The pause in writing ends this many milliseconds after a full hour. A restore does not take all items from
 * exactly the same instant: the instants are "usually much less than a second" apart. No write may happen
 * between these instants.
 */
const pauseAfter = 2_000

/**
 * How many milliseconds a write must wait at the instant `now` (epoch milliseconds): 0 unless a full hour is
 * near.
 */
export const restAt = (now: number): number =>
  Math.max(0, pauseBefore + pauseAfter - ((now + pauseBefore) % hourMilliseconds))

/** When the write pause before `hour` starts, epoch milliseconds. */
export const lastWriteBefore = (hour: number): number => hour - pauseBefore

type Middleware = (
  next: (args: unknown) => Promise<unknown>,
  context: { commandName?: string },
) => (args: unknown) => Promise<unknown>

const pauseWrites: Middleware =
  (next, { commandName = '' }) =>
  async (args) => {
    if (/Write|Put|Update|Delete/.test(commandName)) await wait(restAt(Date.now()))
    return next(args)
  }

/**
 * Pauses the writes of the calling function, retries included, around every full hour. So a table that is
 * restored to a full hour contains each transaction entirely or not at all. Restores alone do not ensure this
 * (Amazon DynamoDB Developer Guide: "Backing up and restoring DynamoDB tables"). Only for functions that are
 * fed by a queue: nobody waits for their writes.
 */
export const restOnTheHour = (): void =>
  db.middlewareStack.add(pauseWrites as never, {
    step: 'finalizeRequest',
    priority: 'low',
    name: 'restOnTheHour',
    override: true,
  })

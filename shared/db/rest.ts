import { setTimeout as wait } from 'node:timers/promises'
import { db } from './table.ts'

const hourMilliseconds = 3_600_000

/**
 * How long before a full hour writes stop: three seconds, in which the last write arrives or fails
 * (clientOptions), and two more in case the table still works on the write or clocks differ.
 */
const restBefore = 5_000

/** How long writes rest after the hour: restored items differ in age by "usually much less than a second". */
const restAfter = 2_000

/** How many milliseconds a write must wait at an instant (epoch milliseconds): 0, except during a rest. */
export const restAt = (now: number): number =>
  Math.max(0, restBefore + restAfter - ((now + restBefore) % hourMilliseconds))

/** The last instant before a full hour at which a write is sent. */
export const lastWriteBefore = (hour: number): number => hour - restBefore

type Middleware = (
  next: (args: unknown) => Promise<unknown>,
  context: { commandName?: string },
) => (args: unknown) => Promise<unknown>

const rest: Middleware =
  (next, { commandName = '' }) =>
  async (args) => {
    if (/Write|Put|Update|Delete/.test(commandName)) await wait(restAt(Date.now()))
    return next(args)
  }

/**
 * Stops the calling function's writes to the table, retries included, around every full hour, so that a table
 * restored to a full hour contains each transaction entirely or not at all. Restores are not atomic (Amazon
 * DynamoDB Developer Guide: "Backing up and restoring DynamoDB tables"). Only for functions that apply
 * events, because nobody waits for them: see "A table restored to a full hour" in infra/RUNBOOK.md.
 */
export const restOnTheHour = (): void =>
  db.middlewareStack.add(rest as never, {
    step: 'finalizeRequest',
    priority: 'low',
    name: 'restOnTheHour',
    override: true,
  })

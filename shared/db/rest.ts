import { setTimeout as wait } from 'node:timers/promises'
import { db } from './table.ts'

const hourMilliseconds = 3_600_000

/**
 * How long before the hour the last write is sent: three seconds, in which it arrives or fails
 * (clientOptions), and two more for a table that still works on it and for clocks that differ.
 */
const restBefore = 5_000

/** How long writes rest after the hour: a restore's items differ by "usually much less than a second". */
const restAfter = 2_000

/** How long a write at an instant (epoch milliseconds) has to wait for the end of a rest; mostly 0. */
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
 * Makes the function that calls it rest around every full hour: it sends no write to the table then, repeated
 * ones included, so that a table restored to a full hour has every transaction whole or not at all. Restores
 * are not atomic (Amazon DynamoDB Developer Guide: "Backing up and restoring DynamoDB tables"). For functions
 * that apply events, for which nobody waits: see "A table restored to a full hour" in infra/RUNBOOK.md.
 */
export const restOnTheHour = (): void =>
  db.middlewareStack.add(rest as never, {
    step: 'finalizeRequest',
    priority: 'low',
    name: 'restOnTheHour',
    override: true,
  })

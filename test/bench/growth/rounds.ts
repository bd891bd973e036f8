import { setImmediate as endOfTurn } from 'node:timers/promises'
import { marshall } from '@aws-sdk/util-dynamodb'
import { consumedUnits, resetConsumedUnits } from '../../../shared/db/consumed-units.ts'
import { keyText } from '../../../shared/db/read.ts'
import { db, type Item, type Key } from '../../../shared/db/table.ts'
import type { Write } from '../../../shared/db/write.ts'
import { billedWriteUnits } from '../../support/billed-units.ts'

/** The input of a call to the table: a transaction, a put, an update, a deletion or a read. */
type Input = Partial<NonNullable<Write['Put']> & NonNullable<Write['Update']>> & { TransactItems?: Write[] }
type Command = { input: Input }
export type Send = (command: Command) => Promise<object>

/** The cost of table operations, as counts that do not depend on the speed of the machine. */
export interface RoundCost<T> {
  result: T
  rounds: number
  /** Read units as DynamoDB Local reports them. */
  readUnits: number
  /** Write units as AWS bills them, keyed by partition key. */
  writeUnits: Map<string, number>
}

/** A round ends when the event loop has turned this many times without a new call. */
const quietTurns = 5

/**
 * Runs work, and counts the rounds of its calls to the table. Calls that wait at the same time form one
 * round, and are answered together. `answer` stands in for the table.
 */
export async function measureInRounds<T>(run: () => Promise<T>, answer?: Send): Promise<RoundCost<T>> {
  const target = db as unknown as { send: Send }
  const original = target.send
  const send: Send = answer ?? ((command) => original.call(db, command))
  const writeUnits = new Map<string, number>()
  let rounds = 0
  let waiting: { command: Command; settle: (answer: Promise<object>) => void }[] = []
  const answerRound = async () => {
    for (let calls = 0, quiet = 0; quiet < quietTurns; quiet += 1) {
      await endOfTurn()
      if (waiting.length > calls) quiet = 0
      calls = waiting.length
    }
    const round = waiting
    waiting = []
    const answers = round.map(({ command }) => send(command))
    await Promise.allSettled(answers)
    rounds += 1
    for (const [i, { settle }] of round.entries()) settle(answers[i] as Promise<object>)
  }
  target.send = (command) =>
    new Promise((resolve) => {
      for (const { key, billed } of billWrites(command.input))
        writeUnits.set(key.pk, (writeUnits.get(key.pk) ?? 0) + billed)
      if (waiting.push({ command, settle: resolve }) === 1) void answerRound()
    })
  resetConsumedUnits()
  try {
    const result = await run()
    return { result, rounds, readUnits: consumedUnits().read_units, writeUnits }
  } finally {
    target.send = original
  }
}

/** Size of each item after its last write, in write units. AWS bills the larger of old and new size. */
const lastUnits = new Map<string, number>()

/**
 * Estimates the write units of each write in a call. Only a put contains the whole new item. After an update
 * or a deletion, the item is assumed to be one unit large.
 */
function billWrites({ TransactItems, Item, Key, UpdateExpression, ...rest }: Input) {
  if (TransactItems !== undefined) return TransactItems.flatMap((write) => billWrite(write, 2))
  if (Item !== undefined) return billWrite({ Put: { Item } }, 1)
  if (UpdateExpression !== undefined && Key !== undefined)
    return billWrite({ Update: { Key, UpdateExpression } }, 1)
  const isDeletion = Key !== undefined && !('ConsistentRead' in rest)
  return isDeletion ? billWrite({ Delete: { Key } }, 1) : []
}

function billWrite({ Put, Update, Delete }: Write, factor: number): { key: Key; billed: number }[] {
  const key = (Put?.Item ?? Update?.Key ?? Delete?.Key) as Key | undefined
  if (key === undefined) return []
  const before = lastUnits.get(keyText(key)) ?? 1
  const after = Put?.Item === undefined ? 1 : unitsOf(Put.Item)
  lastUnits.set(keyText(key), after)
  return [{ key, billed: Math.max(before, after) * factor }]
}

const unitsOf = (item: Item): number =>
  billedWriteUnits({ before: undefined, after: marshall(item, { removeUndefinedValues: true }) }, false)

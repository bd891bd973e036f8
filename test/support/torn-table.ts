import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { vi } from 'vitest'
import { keyText, readItems } from '../../shared/db/read.ts'
import { db, type Item, type Key } from '../../shared/db/table.ts'
import type { Write } from '../../shared/db/write.ts'
import { writeAll } from './write-all.ts'

/** The key of a written item, and all states of the item, beginning with the state before the first write. */
export interface Recorded {
  key: Key
  states: (Item | undefined)[]
}

/** The keys of the items that a command writes; empty for a command that reads. */
function keysWritten(command: unknown): Key[] {
  if (command instanceof PutCommand) return keyIn(command.input.Item)
  if (command instanceof UpdateCommand || command instanceof DeleteCommand) return keyIn(command.input.Key)
  if (!(command instanceof TransactWriteCommand)) return []
  return (command.input.TransactItems ?? []).flatMap(({ Put, Update, Delete }) =>
    keyIn(Put?.Item ?? Update?.Key ?? Delete?.Key),
  )
}

const keyIn = ({ pk, sk }: Record<string, unknown> = {}): Key[] =>
  pk === undefined ? [] : [{ pk: pk as string, sk: sk as string }]

/** Runs `act`, and returns the states of all items that it wrote. */
export async function recordStates(act: () => Promise<unknown>): Promise<Recorded[]> {
  const recorded = new Map<string, Recorded>()
  const send = db.send.bind(db)
  const record = async (command: unknown) => {
    const keys = keysWritten(command)
    if (keys.length === 0) return send(command as never)
    const before = await readItems(keys, { consistent: true })
    const answer = await send(command as never)
    const after = await readItems(keys, { consistent: true })
    keys.forEach((key, i) => {
      const states = recorded.get(keyText(key))?.states ?? [before[i]]
      recorded.set(keyText(key), { key, states: [...states, after[i]] })
    })
    return answer
  }
  const spy = vi.spyOn(db, 'send').mockImplementation(record as never)
  await act().finally(() => spy.mockRestore())
  return [...recorded.values()]
}

/** Writes each item in the state that `choose` picks. As in a restored backup, old and new states can mix. */
export async function restoreStates(
  recorded: readonly Recorded[],
  choose: (states: Recorded['states'], position: number) => Item | undefined,
): Promise<void> {
  await writeAll(
    recorded.map(({ key, states }, position): Write => {
      const chosen = choose(states, position)
      return chosen === undefined ? { Delete: { Key: key } } : { Put: { Item: chosen } }
    }),
  )
}

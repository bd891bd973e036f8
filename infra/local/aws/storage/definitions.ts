import type { Store } from './store.ts'

/** Definitions of resources that programs have made here, kept in the store by name. */
export type Definitions<T> = ReturnType<typeof openDefinitions<T>>

/** Opens the definitions of one kind of resource. */
export function openDefinitions<T>({ database }: Store, kind: 'queues' | 'rules') {
  const table = `own_${kind}`
  database.exec(`CREATE TABLE IF NOT EXISTS ${table} (name TEXT PRIMARY KEY, definition TEXT NOT NULL)`)
  const select = database.prepare(`SELECT definition FROM ${table} ORDER BY name`)
  const insert = database.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?)`)
  const remove = database.prepare(`DELETE FROM ${table} WHERE name = ?`)
  return {
    list: (): T[] => select.all().map(({ definition }) => JSON.parse(String(definition)) as T),
    save: (name: string, definition: T): void => void insert.run(name, JSON.stringify(definition)),
    remove: (name: string): void => void remove.run(name),
  }
}

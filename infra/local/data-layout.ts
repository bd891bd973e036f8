import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { refuse } from './startup-error.ts'

/** Number of the layout of stored items. Raise it when items of earlier versions can no longer be read. */
const layout = '5'

/** Marks a data directory with its layout. Throws a `StartupError` for one that an earlier version made. */
export function checkDataLayout(directory: string): void {
  const file = join(directory, 'layout')
  const isNew = !existsSync(file) && !existsSync(join(directory, 'dynamodb'))
  if (!isNew && !(existsSync(file) && readFileSync(file, 'utf8') === layout))
    refuse(
      `${directory} has data of an earlier version, which this one cannot read: delete it, or start with another --data DIR`,
    )
  writeFileSync(file, layout)
}

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ItemTypeSpec, itemTypes } from '../../shared/db/item-type.ts'
import { markdownTable } from './markdown.ts'

const shared = join(import.meta.dirname, '..', '..', 'shared')

/** Markdown table of every item type of the DynamoDB table, with the file that declares it. */
export async function describeItems(): Promise<string> {
  const files = ownerFiles()
  for (const file of files) await import(join(shared, file))
  const rows = itemTypes.map((item) => toRow(item, ownerOf(item, files)))
  return markdownTable(['partition key', 'sort key', 'index', 'holds', 'found', 'owner'], rows.sort(byKeys))
}

/** Finds the file that declares an item type. It must be the only file with the type's description. */
function ownerOf({ holds }: ItemTypeSpec, files: string[]): string {
  const [owner, ...others] = files.filter((file) => readFileSync(join(shared, file), 'utf8').includes(holds))
  if (owner === undefined || others.length > 0)
    throw new Error(`not one file declares an item that holds ${holds}`)
  return owner
}

/** Files under shared/ that declare an item type. */
const ownerFiles = (): string[] =>
  globSync('**/*.ts', { cwd: shared })
    .filter((file) => file !== join('db', 'item-type.ts'))
    .filter((file) => /\bitemType\(/.test(readFileSync(join(shared, file), 'utf8')))
    .sort()

const toRow = ({ pk, sk, gpk, gsk, holds, found }: ItemTypeSpec, file: string): string[] => [
  `\`${pk}\``,
  `\`${sk}\``,
  gpk === undefined ? '' : `\`${gpk}\` / \`${gsk ?? ''}\``,
  holds,
  found,
  `[\`${file}\`](${file})`,
]

const byKeys = (a: string[], b: string[]): number => (a.join() < b.join() ? -1 : 1)

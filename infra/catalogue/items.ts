import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ItemTypeSpec, itemTypes } from '../../shared/db/item-type.ts'
import { markdownTable } from './markdown.ts'

const shared = join(import.meta.dirname, '..', '..', 'shared')

/** Every kind of item in the table, with the file that owns it. */
export async function describeItems(): Promise<string> {
  const rows: string[][] = []
  for (const file of ownerFiles()) {
    const before = itemTypes.length
    await import(join(shared, file))
    // A file that was loaded by an earlier one has declared its kinds already, so they are found by their
    // text.
    const text = readFileSync(join(shared, file), 'utf8')
    const owned = itemTypes.filter(
      ({ pk, sk }) => text.includes(`pk: '${pk}'`) && text.includes(`sk: '${sk}'`),
    )
    if (owned.length === 0) throw new Error(`${file} declares no kind of item (${before})`)
    rows.push(...owned.map((item) => toRow(item, file)))
  }
  return markdownTable(['partition key', 'sort key', 'index', 'holds', 'found', 'owner'], rows.sort(byKeys))
}

/** Files under shared/ that declare a kind of item. */
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

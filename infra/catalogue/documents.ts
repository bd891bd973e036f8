import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeKnobs } from './knobs.ts'
import { describeIdleCost } from './idle-cost.ts'
import { describeItems } from './items.ts'
import { replaceSection } from './markdown.ts'
import { describeReach } from './reach.ts'

const root = join(import.meta.dirname, '..', '..')

/** For each generated section: its document, the name in its markers, and a function that writes the text. */
const sections: [document: string, section: string, describe: () => string | Promise<string>][] = [
  ['shared/README.md', 'items', describeItems],
  ['infra/README.md', 'knobs', describeKnobs],
  ['infra/CAPACITY.md', 'idle', describeIdleCost],
  ['infra/SECURITY.md', 'reach', describeReach],
]

/** Every document with a generated section: its file, and its text with the section up to date. */
export const catalogueDocuments = (): Promise<{ file: string; text: string }[]> =>
  Promise.all(
    sections.map(async ([document, section, describe]) => {
      const file = join(root, document)
      return { file, text: replaceSection(readFileSync(file, 'utf8'), section, await describe()) }
    }),
  )

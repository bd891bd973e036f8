import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeEndpoints } from './endpoints.ts'
import { describeEvents } from './events.ts'
import { describeFailures } from './failures.ts'
import { describeKnobs } from './knobs.ts'
import { describeIdleCost } from './idle-cost.ts'
import { describeItems } from './items.ts'
import { replaceSection } from './markdown.ts'
import { describeReach } from './reach.ts'

const root = join(import.meta.dirname, '..', '..')

/** For each generated section: its document, the name in its markers, and a function that writes the text. */
const sections: [document: string, section: string, describe: () => string | Promise<string>][] = [
  ['README.md', 'endpoints', describeEndpoints],
  ['README.md', 'events', describeEvents],
  ['README.md', 'failures', describeFailures],
  ['shared/README.md', 'items', describeItems],
  ['infra/README.md', 'knobs', describeKnobs],
  ['infra/CAPACITY.md', 'idle', describeIdleCost],
  ['infra/THREAT-MODEL.md', 'reach', describeReach],
]

/** Every document with generated sections: its file, and its text with the sections up to date. */
export async function catalogueDocuments(): Promise<{ file: string; text: string }[]> {
  const texts = new Map<string, string>()
  for (const [document, section, describe] of sections) {
    const file = join(root, document)
    const text = texts.get(file) ?? readFileSync(file, 'utf8')
    texts.set(file, replaceSection(text, section, await describe()))
  }
  return Array.from(texts, ([file, text]) => ({ file, text }))
}

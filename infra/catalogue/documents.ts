import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeKnobs } from './knobs.ts'
import { describeEvents, describeRejections } from './events.ts'
import { describeIdleCost } from './idle-cost.ts'
import { describeItems } from './items.ts'
import { replaceSection } from './markdown.ts'
import { describeReach } from './reach.ts'

const root = join(import.meta.dirname, '..', '..')

/** The functions that write generated sections, keyed by document and by the section name in the markers. */
const sections: Record<string, Record<string, () => string | Promise<string>>> = {
  'functions/intake/README.md': { events: describeEvents, rejections: describeRejections },
  'shared/README.md': { items: describeItems },
  'infra/README.md': { knobs: describeKnobs },
  'infra/CAPACITY.md': { idle: describeIdleCost },
  'infra/SECURITY.md': { reach: describeReach },
}

/** Every document with generated sections: its file, and its text with the generated sections up to date. */
export async function catalogueDocuments(): Promise<{ file: string; text: string }[]> {
  const documents = []
  // Imports the modules in turn: simultaneous imports may resolve before a module that both load has run.
  for (const [name, generated] of Object.entries(sections)) {
    const file = join(root, name)
    let text = readFileSync(file, 'utf8')
    for (const [section, describe] of Object.entries(generated))
      text = replaceSection(text, section, await describe())
    documents.push({ file, text })
  }
  return documents
}

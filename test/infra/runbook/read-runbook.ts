import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const file = join(import.meta.dirname, '../../../infra/RUNBOOK.md')

/** The text of infra/RUNBOOK.md. */
export const runbook = readFileSync(file, 'utf8')

/** Returns the text below the heading of a section, procedure or alarm in the runbook. */
export function sectionOf(heading: string): string {
  const [, text] = runbook.split(`# ${heading}\n`)
  if (text === undefined) throw new Error(`the runbook has no section ${heading}`)
  return text.split(/\n##+ /, 1)[0] ?? ''
}

/** Every `npm run ops --` command in the runbook, without that prefix. */
export const opsCommands = [...runbook.matchAll(/`npm run (?:--silent )?ops -- ([^`]+)`/g)].map(
  ([, command = '']) => command,
)

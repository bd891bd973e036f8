import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const file = join(import.meta.dirname, '../../../infra/RUNBOOK.md')

/** The runbook as it is handed to whoever has the bad day. */
export const runbook = readFileSync(file, 'utf8')

/** Headings of the procedures, in their order. */
export const procedureHeadings = [
  ...runbook.slice(runbook.indexOf('\n## Procedures')).matchAll(/^### (.+)$/gm),
].map(([, heading = '']) => heading)

/** What stands under a heading. */
export function sectionOf(heading: string): string {
  const [, text] = runbook.split(`\n### ${heading}\n`)
  if (text === undefined) throw new Error(`the runbook has no procedure ${heading}`)
  return text.split(/\n##+ /, 1)[0] ?? ''
}

/** Every command for operators that the runbook spells out, without `npm run ops --` before it. */
export const opsCommands = [...runbook.matchAll(/`npm run (?:--silent )?ops -- ([^`]+)`/g)].map(
  ([, command = '']) => command,
)

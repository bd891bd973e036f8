import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { environmentName, Settings } from '../../shared/settings.ts'
import { Config } from '../config.ts'
import { readComment } from '../read-comment.ts'
import { markdownTable } from './markdown.ts'

const declared = ['shared/settings.ts', 'infra/config.ts']
  .map((file) => readFileSync(join(import.meta.dirname, '..', '..', file), 'utf8'))
  .join('\n')

/**
 * Markdown table of the knobs (configuration values) of a deployment. Knobs that functions read are also
 * environment variables; the others only affect the stacks.
 */
export function describeKnobs(): string {
  const schemas = Config.pipe[0].entries
  return markdownTable(
    ['knob', 'default', 'meaning', 'variable'],
    Object.entries(schemas).map(([name, schema]) => [
      `\`${name}\``,
      describeDefault(v.getDefault(schema as v.GenericSchema)),
      readComment(declared, `${name}:`),
      name in Settings.entries ? `\`${environmentName(name)}\`` : '',
    ]),
  )
}

function describeDefault(value: unknown): string {
  if (value === undefined) return ''
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

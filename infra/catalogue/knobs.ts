import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { environmentName, Settings } from '../../shared/settings.ts'
import { Config } from '../config.ts'
import { markdownTable } from './markdown.ts'

const root = join(import.meta.dirname, '..', '..')

/**
 * Markdown table of the knobs of a deployment. Knobs that functions read are also environment variables; the
 * others only affect the stacks.
 */
export function describeKnobs(): string {
  const comments = { ...readComments('shared/settings.ts'), ...readComments('infra/config.ts') }
  const schemas = Config.pipe[0].entries
  return markdownTable(
    ['knob', 'default', 'meaning', 'variable'],
    Object.entries(schemas).map(([name, schema]) => [
      `\`${name}\``,
      describeDefault(v.getDefault(schema as v.GenericSchema)),
      comments[name] ?? missing(name),
      name in Settings.entries ? `\`${environmentName(name)}\`` : '',
    ]),
  )
}

function describeDefault(value: unknown): string {
  if (value === undefined) return ''
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

function missing(name: string): never {
  throw new Error(`the knob ${name} has no comment that says what it does`)
}

/** Reads the doc comments of a schema's members from its source file, keyed by member name. */
function readComments(file: string): Record<string, string> {
  const text = readFileSync(join(root, file), 'utf8')
  const found = [...text.matchAll(/\/\*\*([^/]*?)\*\/\s+(\w+):/g)]
  return Object.fromEntries(
    found.map(([, comment = '', name = '']) => [name, comment.replaceAll(/\s*\n\s*\*\s*/g, ' ').trim()]),
  )
}

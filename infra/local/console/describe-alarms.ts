import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CloudWatch } from '../aws/cloudwatch/cloudwatch.ts'

const runbook = join(import.meta.dirname, '..', '..', 'RUNBOOK.md')

/** Describes the health of the stage, and each raised alarm with its section of the runbook, newest first. */
export function describeAlarms({ alarms }: Pick<CloudWatch, 'alarms'>) {
  const text = readFileSync(runbook, 'utf8')
  const raised = alarms().filter((view) => view.raised && !('rule' in view.alarm))
  return {
    health: raised.length === 0 ? 'OK' : 'ALARM',
    alarms: raised
      .toSorted((one, other) => other.since - one.since)
      .map(({ alarm: { name, description }, since }) => ({
        name,
        since,
        description,
        what_to_do: sectionOf(text, description.split('#').at(-1) ?? ''),
      })),
  }
}

const sectionOf = (text: string, heading: string): string =>
  text
    .split(`\n### ${heading}\n`)[1]
    ?.split(/\n##+ /, 1)[0]
    ?.trim() ?? ''

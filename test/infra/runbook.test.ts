import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addCommands, createProgram } from '../../infra/ops/command-line.ts'
import { UsageError } from '../../infra/ops/errors.ts'
import { rejectionReasons } from '../../shared/events/rejected-event.ts'
import { opsCommands, sectionOf } from './runbook/read-runbook.ts'

describe('commands in the runbook', () => {
  /** Valid values for the placeholders (words in capitals) in the runbook's commands. */
  const words: Record<string, string> = {
    NUMBER: '1',
    NAME: 'user.registered',
    ID: '1',
    INSTANT: '2026-11-22T12:00:00Z',
    END: '2026-11-22T13:00:00Z',
    HOUR: '2026-11-22T12:00:00Z',
  }
  const done: string[] = []
  const silent = { out: () => undefined, err: (text: string) => void done.push(text) }

  it.each([...new Set(opsCommands)])('the runbook’s command exists: %s', async (command) => {
    const program: Command = createProgram({
      ...silent,
      readInput: async function* () {},
    })
    addCommands(program, async () => undefined)
    const [line = ''] = command.split(' > ')
    const parts = line.split(' ').map((part) => words[part] ?? part)
    // Even a known command may throw a UsageError, for example because a file is missing.
    await program.parseAsync(parts, { from: 'user' }).catch((error: unknown) => {
      if (!(error instanceof UsageError)) throw new Error(done.join('\n'), { cause: error })
    })
  })
})

it('the runbook says what to do about every reason for which an event becomes a dead letter', () => {
  const section = sectionOf('dead-letters')
  expect(Object.keys(rejectionReasons).filter((code) => !section.includes(`\`${code}\``))).toEqual([])
})

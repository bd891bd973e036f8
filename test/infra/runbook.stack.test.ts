import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { UsageError } from '../../infra/ops/errors.ts'
import { longProcedures } from './runbook/long-procedures.ts'
import { startOwnStack } from './runbook/own-stack.ts'
import { opsCommands, procedureHeadings, runbook } from './runbook/read-runbook.ts'

// On AWS the switch waits minutes until what had begun has ended; here every call ends within milliseconds.
vi.mock('../../infra/ops/maintenance/limits.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  probing: { answers: 3, pauseMilliseconds: 50 },
  drainMilliseconds: () => 500,
}))

const stack = await startOwnStack()
const url = stack.baseUrl
// Imported only now, because these modules create AWS clients, which read the stack's address from the
// environment when they are loaded.
const { addCommands, createProgram } = await import('../../infra/ops/command-line.ts')
const { aDisabledKey } = await import('./runbook/a-disabled-key.ts')
const { aFloodedDeadLetterQueue } = await import('./runbook/a-flooded-dead-letter-queue.ts')
const { aLeakedSigningKey } = await import('./runbook/a-leaked-signing-key.ts')
const { anExhaustedKmsQuota } = await import('./runbook/an-exhausted-kms-quota.ts')
const { aNewKeyThatFailsItsCheck } = await import('./runbook/a-new-key-that-fails-its-check.ts')
const { stoppingTheService } = await import('./runbook/stopping-the-service.ts')
const { peopleOf } = await import('./runbook/people.ts')

afterAll(() => stack.stop())

const people = peopleOf(url)
const layout = stack.model.tables[0]?.createTableInput ?? {}

/**
 * A rehearsal of each procedure in the runbook, by heading; it runs the runbook's own commands step by step.
 * Those that take longer are in runbook/recovery.stack.test.ts.
 */
const rehearsals: Record<string, () => Promise<void>> = {
  'Stopping the service': () => stoppingTheService(url, people, layout),
  'A leaked signing key': () => aLeakedSigningKey(url, people),
  'A disabled key': () => aDisabledKey(url, people),
  'A new key that fails its check': () => aNewKeyThatFailsItsCheck(url, people),
  'A flooded dead-letter queue': () => aFloodedDeadLetterQueue(url),
  'An exhausted KMS quota': () => anExhaustedKmsQuota(),
}

it('every procedure of the runbook has a rehearsal', () => {
  expect([...longProcedures, ...Object.keys(rehearsals)].sort()).toEqual(procedureHeadings.toSorted())
})

it('every link in the runbook leads to a heading or a file', () => {
  const anchorsOf = (text: string) =>
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'))
  for (const [, target = ''] of runbook.matchAll(/\]\(([^)]+)\)/g)) {
    const [name = '', anchor] = target.split('#')
    const file = join(import.meta.dirname, '../../infra', name)
    expect(name === '' || existsSync(file), target).toBe(true)
    if (anchor === undefined) continue
    const text = name === '' ? runbook : readFileSync(file, 'utf8')
    expect(anchorsOf(text), target).toContain(anchor)
  }
})

describe('procedures of the runbook', () => {
  it.each(Object.entries(rehearsals))(
    'the runbook’s procedure works: %s',
    { timeout: 120_000 },
    (_heading, rehearse) => rehearse(),
  )
})

describe('commands in the runbook', () => {
  /** Valid values for the placeholders (words in capitals) in the runbook's commands. */
  const words: Record<string, string> = {
    NUMBER: '1',
    NAME: 'user.registered',
    ID: '1',
    INSTANT: '2026-11-22T12:00:00Z',
    END: '2026-11-22T13:00:00Z',
  }
  const done: string[] = []
  const silent = { out: () => undefined, err: (text: string) => void done.push(text) }

  it.each([...new Set(opsCommands)])('the runbook’s command exists: %s', async (command) => {
    const program: Command = createProgram({
      ...silent,
      readInput: async function* () {},
      interactive: false,
    })
    addCommands(program, async () => undefined)
    const [line = ''] = command.split(' > ')
    const parts = line.split(' ').map((part) => words[part] ?? part)
    // A UsageError, for example for a missing file, still shows that the command exists.
    await program.parseAsync(parts, { from: 'user' }).catch((error: unknown) => {
      if (!(error instanceof UsageError)) throw new Error(done.join('\n'), { cause: error })
    })
  })
})

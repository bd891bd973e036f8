import { expect, it, vi } from 'vitest'
import { addUserCommands } from '../../../../infra/ops/commands/user.ts'
import { createProgram } from '../../../../infra/ops/command-line.ts'

/** Parses a command line of `user add`; resolves with whether its work is run. */
async function isAccepted(...options: string[]): Promise<boolean> {
  const run = vi.fn(async () => undefined)
  const quiet = {
    out: () => undefined,
    err: () => undefined,
    readInput: () => process.stdin,
  }
  const program = createProgram(quiet)
  addUserCommands(program, run)
  const line = ['user', 'add', '--email', 'a@example.com', '--nickname', 'N', ...options]
  await program.parseAsync(line, { from: 'user' }).catch(() => undefined)
  return run.mock.calls.length > 0
}

it.each(['1', '9007199254740991'])(
  'a user may have the id %s, and one who referred them, too',
  async (id) => {
    expect(await isAccepted('--id', id)).toBe(true)
    expect(await isAccepted('--id', '7', '--referrer', id)).toBe(true)
  },
)

it.each(['0', '-1', '1.5', 'x', '9007199254740992'])(
  '%s is no id of a user, nor of a referrer',
  async (id) => {
    expect(await isAccepted('--id', id)).toBe(false)
    expect(await isAccepted('--id', '7', '--referrer', id)).toBe(false)
  },
)

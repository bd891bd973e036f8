import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const terminal = join(import.meta.dirname, '../../../infra/ops/terminal.ts')

/** Writes a line to a stream that a shell's redirection has spoilt, and goes on for a moment. */
const script = (stream: string) => `
  import { setTimeout } from 'node:timers/promises'
  import { keepRunning } from ${JSON.stringify(terminal)}
  keepRunning(process.${stream})
  await setTimeout(200)
  process.${stream}.write('a line')
  await setTimeout(50)
  process.${stream === 'stdout' ? 'stderr' : 'stdout'}.write('ended')
  process.exitCode ||= 0`

const run = (stream: string, redirection: string) =>
  promisify(execFile)('bash', [
    '-c',
    `"$0" --input-type=module -e "$1" ${redirection}; exit \${PIPESTATUS[0]}`,
    process.execPath,
    script(stream),
  ])

it.each([
  ['stdout', '| true'],
  ['stderr', '2> >(true)'],
])('a command ends its work, and does not fail, if the pipe of its %s is closed', async (stream, closed) => {
  const { stdout, stderr } = await run(stream, closed)
  expect(stdout + stderr).toBe('ended')
})

it.runIf(process.platform === 'linux')(
  'a command ends its work, and fails in one line, if its result cannot be written',
  async () => {
    await expect(run('stdout', '> /dev/full')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^cannot write the result: ENOSPC.+\nended$/) as string,
    })
  },
)

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { stack } from '../../support/oauth.ts'

it(
  'the business server’s sample prints what became of each of its events',
  { timeout: 180_000 },
  async () => {
    const env = { ...process.env, AWS_ENDPOINT_URL: stack.aws_endpoint, EVENT_BUS_NAME: stack.event_bus }
    const { stdout } = await promisify(execFile)('node', ['infra/samples/business-server.mjs'], { env })
    const [note, ...lines] = stdout.trim().split('\n')
    expect(note).toBe('What lacks funds waits a minute for them.')
    expect(lines.toSorted()).toEqual([
      'a package for 20: applied',
      'a package for 500: refused insufficient_balance',
      'a reward of 30: applied',
      'a user: applied',
    ])
  },
)

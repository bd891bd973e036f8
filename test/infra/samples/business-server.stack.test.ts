import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { stack } from '../../support/oauth.ts'

it(
  'the business server’s sample prints what became of each of its events',
  { timeout: 180_000 },
  async () => {
    const env = {
      ...process.env,
      AWS_ENDPOINT_URL: stack.aws_endpoint,
      EVENT_BUS_NAME: stack.event_bus,
      // The settings of a machine that also works with AWS must not matter.
      AWS_ACCESS_KEY_ID: 'of-aws',
      AWS_SECRET_ACCESS_KEY: 'of-aws',
      AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9',
      AWS_ENDPOINT_URL_EVENTBRIDGE: 'http://127.0.0.1:9',
      AWS_USE_FIPS_ENDPOINT: 'true',
      AWS_USE_DUALSTACK_ENDPOINT: 'true',
    }
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

it('if nothing answers, the business server’s sample prints one line that says what to set', async () => {
  const env = { ...process.env, AWS_ENDPOINT_URL: 'http://127.0.0.1:4' }
  const ran = promisify(execFile)('node', ['infra/samples/business-server.mjs'], { env })
  await expect(ran).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^Nothing answers at http:\/\/127\.0\.0\.1:4: .+ AWS_ENDPOINT_URL .+\n$/,
    ) as string,
  })
})

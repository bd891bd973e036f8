import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { deliver } from '../../support/deliver.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { serveHttp } from '../../support/serve-http.ts'

const sender = 'codes@service.example'

beforeEach(() => {
  vi.stubEnv('MAIL_FROM', sender)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  vi.resetModules()
})

async function deliverRefused(code: string, message: string) {
  let outcome: unknown
  const metrics = await emittedMetrics(() =>
    serveHttp(
      (request, response) => {
        request.resume()
        response.writeHead(400, { 'content-type': 'application/json', 'x-amzn-errortype': code })
        response.end(JSON.stringify({ message }))
      },
      async (url) => {
        // Imports the table client before AWS_ENDPOINT_URL changes, so that it still reaches the table.
        await import('../../../shared/db/table.ts')
        vi.stubEnv('AWS_ENDPOINT_URL', url)
        const { handler } = await import('../../../functions/intake/mail.requested.ts')
        const to = 'typo@example.com'
        outcome = await deliver(handler, {
          mail_id: randomUUID(),
          kind: 'code',
          to,
          code: '012345',
          expires_at: Date.now() + 60_000,
        })
      },
    ),
  )
  return { outcome, faults: metrics.filter(({ name }) => name === 'Faults').length }
}

const unverified = (...addresses: string[]) =>
  `Email address is not verified. The following identities failed the check in region US-EAST-1: ${addresses.join(', ')}`

describe('a mail that SES refuses', () => {
  it.each([
    ['an address that is not verified in the sandbox', 'MessageRejected', unverified('typo@example.com')],
    [
      'an address that is not well formed',
      'BadRequestException',
      'Local address contains control or whitespace',
    ],
  ])('%s causes a dead letter (mail_refused), but no fault', async (_what, code, message) => {
    expect(await deliverRefused(code, message)).toEqual({
      outcome: { refused: 'mail_refused: the mail service does not deliver to this address' },
      faults: 0,
    })
  })

  it.each([
    ['a sender that is not verified', 'MessageRejected', unverified(sender)],
    [
      'a sender and an address that are not verified',
      'MessageRejected',
      unverified('typo@example.com', sender),
    ],
    ['a sender domain that is not verified', 'MailFromDomainNotVerifiedException', 'not verified'],
  ])('%s is a fault of the service, and sending the mail is retried', async (_what, code, message) => {
    expect(await deliverRefused(code, message)).toEqual({ outcome: 'retry', faults: 1 })
  })

  it.each([
    'TooManyRequestsException',
    'LimitExceededException',
    'SendingPausedException',
    'AccountSuspendedException',
  ])('%s does not count as a fault of the service, and the mail is tried again', async (code) => {
    expect(await deliverRefused(code, 'no')).toEqual({ outcome: 'retry', faults: 0 })
  })
})

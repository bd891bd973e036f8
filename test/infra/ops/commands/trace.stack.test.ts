import { describe, expect, it } from 'vitest'
import { adjustment } from '../../../support/ledger.ts'
import { useLocalStack } from '../../../support/local-stack.ts'
import { putEvents } from '../../../support/put-event.ts'
import { createUser } from '../../../support/sign-in.ts'
import { ops } from '../run-ops.ts'

interface Line {
  at: number
  function: string
  fields: Record<string, unknown>
}

const trace = async (id: string): Promise<Line[]> => {
  const { out } = await ops(['trace', id, '--json'])
  return (JSON.parse(out) as { lines: Line[] }).lines
}
const waiting = { timeout: 20_000, interval: 200 }

describe('trace', () => {
  it('shows a sign-in’s request and the mail that it caused, by the x-request-id of the answer', async () => {
    const { base_url: url } = await useLocalStack()
    const { email, password } = await createUser()
    const { headers } = await fetch(`${url}/user/login-with-password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, login_password: password }),
    })
    const id = headers.get('x-request-id') ?? expect.unreachable()
    const steps = async () =>
      (await trace(id)).map((line) => `${line.function} ${String(line.fields['message'])}`).toSorted()
    await expect
      .poll(steps, waiting)
      .toEqual([
        'intake-mail-delayed event',
        'user-login-with-password event published',
        'user-login-with-password request',
      ])
    const { code, out } = await ops(['trace', id])
    expect({ code, lines: out.split('\n').length }).toEqual({ code: 0, lines: 3 })
    expect(out).toMatch(/ user-login-with-password INFO request .*status=200/)
  })

  it('shows a refused event by the id that its dead letter has', async () => {
    await putEvents('wallet.adjusted', [adjustment(1, { amount: 'no amount' })])
    const newest = async () => {
      const { out } = await ops(['dlq', 'show', 'wallet.adjusted', '--json', '--limit', '1000'])
      const { messages } = JSON.parse(out) as { messages: { body: string }[] }
      return messages
        .map(({ body }) => JSON.parse(body) as { id?: string; detail?: { amount?: string } })
        .find(({ detail }) => detail?.amount === 'no amount')
    }
    await expect.poll(newest, waiting).toBeDefined()
    const id = (await newest())?.id ?? expect.unreachable()
    expect((await trace(id)).map(({ fields }) => fields)).toMatchObject([
      { message: 'event refused', event_id: id, reason: expect.stringMatching(/^invalid_detail/) as string },
      { message: 'event', event_id: id, outcome: 'refused' },
    ])
  })
})

import { afterEach, expect, it, vi } from 'vitest'
import { handler } from '../../../functions/community/note.ts'
import { checkAccessToken, tokenFailure } from '../../../shared/tokens/access-token.ts'
import { revokeToken } from '../../../shared/tokens/session.ts'
import { callEndpoint } from '../../support/call-endpoint.ts'
import { createAccessToken } from '../../support/community.ts'
import { useMemoryTable } from '../../support/memory-table.ts'
import { bearer } from '../../support/oauth-clients.ts'

useMemoryTable(() => () => 900)
afterEach(() => void vi.useRealTimers())

it('a revoked access_token cannot set a note, though an eventually consistent read finds it', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const token = await createAccessToken(1, ['community.read', 'community.write'])
  vi.setSystemTime(Date.now() + 900)
  await revokeToken(token, 'test')
  expect(await checkAccessToken(token, 'community.read')).toMatchObject({ userId: 1 })
  const request = { body: { target_user_id: '2', note: 'n' }, headers: bearer(token) }
  expect(await callEndpoint(handler, request)).toMatchObject({ status: 401 })
})

it.each([
  ['no token was sent', 'unauthenticated', false, 'Bearer'],
  ['a token is unknown', 'unauthenticated', true, 'Bearer error="invalid_token"'],
  ['a token lacks the scope', 'insufficient_scope', true, 'Bearer error="insufficient_scope"'],
  ['a token is another user’s', 'forbidden', true, 'Bearer error="insufficient_scope"'],
] as const)('if %s, the challenge says so', (_what, failure, sent, challenge) => {
  expect(tokenFailure(failure, sent).headers).toEqual({ 'www-authenticate': challenge })
})

import { expect, test, vi } from 'vitest'
import { db } from '../../../shared/db/table.ts'
import { authorize } from '../../../shared/oauth/authorize.ts'
import { authorizationRequest, createClient } from '../../support/oauth-clients.ts'

interface Command {
  input: { ConsistentRead?: boolean }
}

test.each([
  ['valid', {}],
  ['with a bad scope', { scope: 'nonsense' }],
  ['of an unknown client', { client_id: 'nobody' }],
])('an authorization request costs one eventually consistent read: %s', async (_kind, overrides) => {
  const request = authorizationRequest(await createClient(), overrides) as Parameters<typeof authorize>[0]
  const spy = vi.spyOn(db, 'send')
  await authorize(request, { rawQuery: '', repeated: () => [] }).catch(() => undefined)
  const commands = spy.mock.calls.map(([command]) => command as Command)
  spy.mockRestore()
  expect(commands.map((command) => command.constructor.name)).toEqual(['GetCommand'])
  expect(commands[0]?.input.ConsistentRead).toBe(false)
})

import { expect, test, vi } from 'vitest'
import { db } from '../../../shared/db/table.ts'
import { authorize, describeRequest } from '../../../shared/oauth/authorize.ts'
import { measureCalls } from '../../support/measure-calls.ts'
import { authorizationRequest, createClient } from '../../support/oauth-clients.ts'

interface Command {
  input: { ConsistentRead?: boolean }
}

test.each([
  ['valid', {}, [false]],
  ['with a bad scope', { scope: 'nonsense' }, [false]],
  ['of an unknown client, which may be a moment old', { client_id: 'nobody' }, [false, true]],
])('an authorization request costs as few reads as it can: %s', async (_kind, overrides, consistent) => {
  const request = authorizationRequest(await createClient(), overrides) as Parameters<typeof authorize>[0]
  const spy = vi.spyOn(db, 'send')
  await authorize(request, { rawQuery: '', repeated: () => [] }).catch(() => undefined)
  const commands = spy.mock.calls.map(([command]) => command as Command)
  spy.mockRestore()
  expect(commands.map((command) => command.constructor.name)).toEqual(consistent.map(() => 'GetCommand'))
  expect(commands.map(({ input }) => input.ConsistentRead)).toEqual(consistent)
})

test.each([
  ['valid', {}, ['GetItem']],
  ['of an unknown client, which may be a moment old', { client_id: 'nobody' }, ['GetItem', 'GetItem']],
])('the description of an authorization request costs few reads: %s', async (_kind, overrides, reads) => {
  const request = authorizationRequest(await createClient(), overrides) as Parameters<
    typeof describeRequest
  >[0]
  const { names } = await measureCalls(() => describeRequest(request).catch(() => undefined))
  expect(names).toEqual(reads)
})

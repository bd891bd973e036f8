import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test, vi } from 'vitest'
import { db } from '../../../shared/db/table.ts'
import { authorize, describeRequest } from '../../../shared/oauth/authorize.ts'
import { authorizationRequest, createClient } from '../../support/oauth-clients.ts'

test.each([
  ['valid', {}, [false]],
  ['with a bad scope', { scope: 'nonsense' }, [false]],
  ['of an unknown client, which might just have been registered', { client_id: 'nobody' }, [false, true]],
])(
  'authorize and describeRequest read the client again only if it is not found (request: %s)',
  async (_kind, overrides, consistent) => {
    const request = authorizationRequest(await createClient(), overrides) as Parameters<typeof authorize>[0]
    for (const work of [
      () => authorize(request, '', { header: () => undefined }),
      () => describeRequest(request),
    ]) {
      const spy = vi.spyOn(db, 'send')
      await work().catch(() => undefined)
      const commands = spy.mock.calls.map(([command]) => command)
      spy.mockRestore()
      expect(commands).toEqual(consistent.map(() => expect.any(GetCommand) as GetCommand))
      expect(commands).toMatchObject(consistent.map((ConsistentRead) => ({ input: { ConsistentRead } })))
    }
  },
)

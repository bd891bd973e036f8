import * as v from 'valibot'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Manners } from '../../../infra/local/manners.ts'
import { callEndpoint } from '../../support/call-endpoint.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { useOwnEndpoint } from '../../support/own-endpoint.ts'

/** How many of the next writes meet a transaction. */
let conflicts = 0
const manners: Manners = {
  speed: 1,
  has: (manner) => manner === 'conflicts',
  draw: () => 0,
  happens: (manner) => manner === 'conflicts' && (conflicts -= 1) >= 0,
}

useOwnEndpoint(manners)

const load = async () => ({
  ...(await import('../../../shared/http/public-endpoint.ts')),
  ...(await import('../../../shared/db/read.ts')),
  ...(await import('../../../shared/db/write.ts')),
})
type Kit = Awaited<ReturnType<typeof load>>

const key = { pk: 'a', sk: 'a' }
const increment = {
  Key: key,
  UpdateExpression: 'ADD #count :one',
  ExpressionAttributeNames: { '#count': 'count' },
  ExpressionAttributeValues: { ':one': 1 },
}
const writes: [string, (kit: Kit) => Promise<unknown>][] = [
  ['PutItem', ({ writeItem }) => writeItem({ Put: { Item: { ...key, count: 0 } } })],
  ['UpdateItem', ({ writeItem }) => writeItem({ Update: increment })],
  ['TransactWriteItems', ({ transact }) => transact([{ Update: increment }])],
  ['DeleteItem', ({ writeItem }) => writeItem({ Delete: { Key: key } })],
]

it.each(writes)(
  '%s that meets transactions on its item is written once they are over',
  async (name, write) => {
    const kit = await load()
    conflicts = 10
    await write(kit)
    expect(conflicts).toBeLessThan(0)
    const counts = { PutItem: '0', UpdateItem: '1', TransactWriteItems: '2', DeleteItem: undefined }
    const item = await kit.readItem(key, { consistent: true })
    expect((item?.['count'] as { value: string } | undefined)?.value).toBe(
      counts[name as keyof typeof counts],
    )
  },
)

it.each(writes)(
  'an endpoint answers 503 with Retry-After, and counts no fault, when its %s meets transactions for too long',
  async (_name, write) => {
    const kit = await load()
    const handler = kit.publicEndpoint({
      input: v.object({}),
      output: v.null(),
      async run() {
        await write(kit)
        return null
      },
    })
    conflicts = Infinity
    vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => void vi.restoreAllMocks())
    const metrics = await emittedMetrics(async () => {
      expect(await callEndpoint(handler, {})).toMatchObject({
        status: 503,
        code: 50300,
        headers: { 'retry-after': '1' },
      })
    })
    expect(metrics.map(({ name }) => name)).not.toContain('Faults')
  },
)

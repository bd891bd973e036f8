import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { db, tableName } from '../../../shared/db/table.ts'
import { intake } from '../../../shared/events/intake.ts'
import { RejectedEvent, OutOfOrderEvent } from '../../../shared/events/rejected-event.ts'
import { log } from '../../../shared/log.ts'
import { deliver, deliverBatch, interceptQueues } from '../../support/deliver.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'

const intakeThat = (apply: () => Promise<void>) =>
  intake({
    detailType: 'test.happened',
    detail: v.object({}),
    key: () => 'key',
    async apply() {
      await apply()
      return 'applied'
    },
  })

beforeEach(() => interceptQueues())
afterEach(() => void vi.restoreAllMocks())

describe('the log line of a batch', () => {
  it('the log line of a batch has the number of its events and the table units that they consumed together', async () => {
    const info = vi.spyOn(log, 'info').mockReturnValue(undefined)
    const write = async () => {
      await db.send(
        new PutCommand({ TableName: tableName(), Item: { pk: `TEST#${randomUUID()}`, sk: 'TEST' } }),
      )
    }
    await deliverBatch(intakeThat(write), [{}, {}, {}])
    expect(info).toHaveBeenLastCalledWith('batch', {
      messages: 3,
      retried: 0,
      duration_ms: expect.any(Number) as number,
      read_units: 0,
      write_units: 3,
    })
  })
})

describe('a rejection', () => {
  it('a rejection code that the event does not declare is logged as an error, so that the test run fails', async () => {
    const error = vi.spyOn(log, 'error').mockReturnValue(undefined)
    const refuseWith = (code: 'expired' | 'conflicting_content') =>
      deliver(
        intakeThat(async () => {
          throw new RejectedEvent(code)
        }),
        {},
      )
    await refuseWith('conflicting_content')
    expect(error).not.toHaveBeenCalled()
    await refuseWith('expired')
    expect(error).toHaveBeenCalledWith('undeclared rejection', { code: 'expired' })
  })
})

describe('the fault metric of an intake function, which rolls a deployment back', () => {
  const faultsOf = async (error: Error) => {
    const handler = intakeThat(async () => {
      throw error
    })
    const metrics = await emittedMetrics(() => deliver(handler, {}))
    return metrics.filter(({ name }) => name === 'Faults').length
  }

  it('an event that fails with an unexpected error counts as a fault', async () => {
    expect(await faultsOf(new TypeError('x is undefined'))).toBe(1)
  })

  it.each([
    ['a rejected event', new RejectedEvent('unknown_user')],
    ['an out-of-order event', new OutOfOrderEvent('unknown_user')],
    ['a dependency that throttles', Object.assign(new Error('slow'), { name: 'ThrottlingException' })],
  ])('%s does not count as a fault of the intake function', async (_what, error) => {
    expect(await faultsOf(error)).toBe(0)
  })
})

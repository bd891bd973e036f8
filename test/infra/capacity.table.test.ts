import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'
import { readItem } from '../../shared/db/read.ts'
import { writeItem } from '../../shared/db/write.ts'
import { applyEvent } from '../support/apply-event.ts'
import { addUser, adjustment } from '../support/ledger.ts'
import { interceptQueues } from '../support/deliver.ts'
import { useOwnTable } from '../support/own-table.ts'
import { measureAllOperations } from './capacity/measure-operations.ts'
import type { Measured } from './capacity/measure.ts'
import { type OperationName, operations } from './capacity/workload.ts'
import { quotas, shareOf, throttleRate } from './capacity/quotas.ts'
import { storedBytes } from './capacity/stored-bytes.ts'
import { fillTables } from './capacity/tables.ts'

const file = join(import.meta.dirname, '../../infra/CAPACITY.md')

let dropTable: () => Promise<void>
beforeAll(async () => {
  const keySet = await readItem({ pk: 'KEYS', sk: 'RING' }, { consistent: true })
  dropTable = await useOwnTable()
  await writeItem({ Put: { Item: keySet ?? {} } })
})
afterAll(() => dropTable())

describe('the figures in CAPACITY.md', () => {
  let measured: Record<string, Measured>
  beforeAll(async () => {
    interceptQueues()
    measured = await measureAllOperations()
  })

  it.each(Object.keys(operations) as OperationName[])(
    'the DynamoDB and KMS usage of %s in CAPACITY.md is what a run measures',
    (name) => {
      const { calls, readUnits, writeUnits, signatures, symmetric } = operations[name]
      expect(measured[name]).toEqual({ calls, readUnits, writeUnits, signatures, symmetric })
    },
  )
})

it('a bill takes as many bytes in the table as CAPACITY.md says', async () => {
  const { handler } = await import('../../functions/intake/wallet.adjusted.ts')
  const userId = await addUser()
  await applyEvent(handler, adjustment(userId))
  const second = adjustment(userId)
  const bytes = await storedBytes(
    () => applyEvent(handler, second),
    (pk) => pk.startsWith(`BL#${userId}#`) || pk === `EVT#wallet.adjusted#${second.adjustment_id}`,
  )
  expect(readFileSync(file, 'utf8')).toContain(`${(bytes / 1_000).toFixed(1)} KB for a bill`)
})

it('the tables in CAPACITY.md agree with the figures; node test/bench/capacity.ts updates them', async () => {
  const document = readFileSync(file, 'utf8')
  const filled = await format(fillTables(document), { ...(await resolveConfig(file)), filepath: file })
  expect(document).toBe(filled)
})

it('growing load reaches the AWS quotas in the order that CAPACITY.md names', () => {
  const inOrder = quotas.toSorted((a, b) => shareOf(b, 1) - shareOf(a, 1)).map(({ name }) => name)
  expect(inOrder.slice(0, 5)).toEqual([
    'SES, mails per day',
    'SES, mails per second',
    'DynamoDB, write units of a new table',
    'Throttle of POST /user/login-with-password',
    'DynamoDB, read units of a new table',
  ])
  expect(throttleRate).toBe(readConfig({ stage: 'local' }).throttleRate)
})

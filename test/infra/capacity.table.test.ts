import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'
import { interceptQueues } from '../support/deliver.ts'
import { carryOutAll } from './capacity/carry-out.ts'
import type { Measured } from './capacity/measure.ts'
import { type OperationName, operations } from './capacity/operations.ts'
import { quotas, shareOf, throttleRate } from './capacity/quotas.ts'
import { fillTables } from './capacity/tables.ts'

const file = join(import.meta.dirname, '../../infra/CAPACITY.md')

describe('the figures of the paper on capacity', () => {
  let measured: Record<string, Measured>
  beforeAll(async () => {
    interceptQueues()
    measured = await carryOutAll()
  })

  it.each(Object.keys(operations) as OperationName[])('%s is what its function asks for', (name) => {
    const { calls, readUnits, writeUnits, signatures, symmetric } = operations[name]
    expect(measured[name]).toEqual({ calls, readUnits, writeUnits, signatures, symmetric })
  })
})

it('the tables of the paper are those that the figures give; node test/bench/capacity.ts writes them', async () => {
  const paper = readFileSync(file, 'utf8')
  const filled = await format(fillTables(paper), { ...(await resolveConfig(file)), filepath: file })
  expect(paper).toBe(filled)
})

it('the paper says which limit binds first, and in which order the others do', () => {
  const inOrder = quotas.toSorted((a, b) => shareOf(b, 1) - shareOf(a, 1)).map(({ name }) => name)
  expect(inOrder.slice(0, 5)).toEqual([
    'SES, mails a day',
    'SES, mails a second',
    'Our own throttle of POST /user/login-with-password',
    'KMS, RSA operations',
    'API Gateway, requests',
  ])
  expect(throttleRate).toBe(readConfig({ stage: 'prod' }).throttleRate)
})

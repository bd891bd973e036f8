import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Context } from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { expect, it, vi } from 'vitest'
import { db, tableName } from '../../../../shared/db/table.ts'
import { Failure } from '../../../../shared/errors.ts'
import { publicEndpoint } from '../../../../shared/http/endpoint.ts'
import { log } from '../../../../shared/log.ts'
import { getEvent } from '../../../support/call-endpoint.ts'

const Key = { pk: `TEST#${randomUUID()}`, sk: 'TEST' }
const table = () => ({ TableName: tableName() })

const endpointThat = (run: () => Promise<unknown>) =>
  publicEndpoint({ input: v.object({}), output: v.unknown(), run })

async function logged(run: () => Promise<unknown>): Promise<unknown> {
  const info = vi.spyOn(log, 'info').mockReset()
  await endpointThat(run)(getEvent('/test'), {} as Context)
  expect(info).toHaveBeenCalledTimes(1)
  expect(info.mock.lastCall?.[0]).toBe('request')
  return info.mock.lastCall?.[1]
}

const line = (values: object) => ({ status: 200, duration_ms: expect.any(Number) as number, ...values })

const readAndWrite = async () => {
  await db.send(new PutCommand({ ...table(), Item: { ...Key, text: 'x'.repeat(1_500) } }))
  await db.send(new GetCommand({ ...table(), Key }))
  await db.send(new GetCommand({ ...table(), Key, ConsistentRead: true }))
}

it('the log line of a request has the read and write units of this request', async () => {
  expect(await logged(readAndWrite)).toEqual(line({ read_units: 1.5, write_units: 2 }))
})

it('the log line of a request has no units of an earlier request', async () => {
  await logged(readAndWrite)
  expect(await logged(async () => undefined)).toEqual(line({ read_units: 0, write_units: 0 }))
})

it('the log line of a failed request also has the read and write units that the request consumed', async () => {
  const said = await logged(async () => {
    await db.send(new DeleteCommand({ ...table(), Key }))
    throw new Failure('not_found')
  })
  expect(said).toEqual(line({ status: 404, read_units: 0, write_units: 2 }))
})

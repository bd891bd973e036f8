import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { expect, it } from 'vitest'
import { findNothing } from '../../../shared/db/find-nothing.ts'
import { readItem, readItems } from '../../../shared/db/read.ts'
import { db, tableName } from '../../../shared/db/table.ts'
import { writeItem } from '../../../shared/db/write.ts'

const key = { pk: 'TEST#find-nothing', sk: 'TEST' }

it('reads find nothing, and find again what there is as soon as the work has ended or failed', async () => {
  await writeItem({ Put: { Item: key } })
  expect(await findNothing(() => readItem(key))).toBeUndefined()
  expect(await readItem(key)).toEqual(key)
  const failing = findNothing(async () => {
    expect(await readItems([key, key])).toEqual([undefined, undefined])
    throw new Error('on the way')
  })
  await expect(failing).rejects.toThrow('on the way')
  expect(await readItem(key)).toEqual(key)
})

it('reads that find nothing are answered as the table answers them', async () => {
  const missing = { pk: 'TEST#nobody', sk: 'TEST' }
  const calls = () =>
    Promise.all([
      db.send(new GetCommand({ TableName: tableName(), Key: missing })),
      db.send(
        new QueryCommand({
          TableName: tableName(),
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': missing.pk },
        }),
      ),
    ])
  const [found, queried] = await calls()
  const [notFound, notQueried] = await findNothing(calls)
  expect([notFound.Item, notQueried.Items, notQueried.Count]).toEqual([
    found.Item,
    queried.Items,
    queried.Count,
  ])
})

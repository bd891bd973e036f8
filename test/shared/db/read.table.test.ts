import { afterEach, beforeEach, expect, it } from 'vitest'
import { queryItems, readItem, readItems, readTogether } from '../../../shared/db/read.ts'
import type { Key } from '../../../shared/db/table.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'
import { writeAll } from '../../support/write-all.ts'

let calls: { name: string; keys: number; consistent: boolean | undefined }[] = []
let failing = false
let restore = () => {}

interface BatchInput {
  RequestItems?: Record<string, { Keys: Key[]; ConsistentRead: boolean }>
  ConsistentRead?: boolean
}

beforeEach(() => {
  calls = []
  failing = false
  ;({ restore } = tamperCalls(({ name, command, perform }) => {
    const { RequestItems = {}, ConsistentRead } = (command as { input: BatchInput }).input
    const [batch] = Object.values(RequestItems)
    calls.push({ name, keys: batch?.Keys.length ?? 1, consistent: batch?.ConsistentRead ?? ConsistentRead })
    return failing ? Promise.reject(new Error('denied')) : perform()
  }))
})
afterEach(() => restore())

const keyOf = (name: string): Key => ({ pk: `TEST#${name}`, sk: 'TEST' })

const store = async (...names: string[]) => {
  await writeAll(names.map((name) => ({ Put: { Item: { ...keyOf(name), name } } })))
  calls = []
}

const nameOf = (item: Record<string, unknown> | undefined) => item?.['name']

it('reads that are requested at the same moment share one call, and each gets its own item', async () => {
  await store('a', 'b', 'c')
  const later = async () => {
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve()
    return readItem(keyOf('b'))
  }
  const [a, b, others] = await readTogether(() =>
    Promise.all([readItem(keyOf('a')), later(), readItems([keyOf('c'), keyOf('nobody'), keyOf('a')])]),
  )
  expect([a, b, ...others].map(nameOf)).toEqual(['a', 'b', 'c', undefined, 'a'])
  expect(calls).toEqual([{ name: 'BatchGetCommand', keys: 4, consistent: false }])
})

it('reads share a call only if they have the same consistency and are requested at the same moment', async () => {
  await store('a', 'b')
  await readTogether(async () => {
    const [a, b] = await Promise.all([readItem(keyOf('a')), readItem(keyOf('b'), { consistent: true })])
    expect([nameOf(a), nameOf(b)]).toEqual(['a', 'b'])
    expect(nameOf(await readItem(keyOf('a')))).toBe('a')
  })
  expect(calls.map(({ keys, consistent }) => [keys, consistent])).toEqual([
    [1, false],
    [1, true],
    [1, false],
  ])
})

it('reads of different invocations, or outside of readTogether, are not combined', async () => {
  await store('a', 'b')
  await Promise.all(['a', 'b'].map((name) => readTogether(() => readItem(keyOf(name)))))
  await Promise.all(['a', 'b'].map((name) => readItem(keyOf(name))))
  expect(calls.map(({ name }) => name)).toEqual([
    'BatchGetCommand',
    'BatchGetCommand',
    'GetCommand',
    'GetCommand',
  ])
})

it('keys that DynamoDB leaves unprocessed are read again', async () => {
  await store('a', 'b')
  restore()
  let throttled = true
  ;({ restore } = tamperCalls(async ({ perform }) => {
    const answer = (await perform()) as { Responses?: Record<string, Key[]> }
    const [[table, [{ pk, sk }, ...rest]]] = Object.entries(answer.Responses ?? {}) as [[string, [Key]]]
    if (!throttled) return answer
    throttled = false
    return { Responses: { [table]: rest }, UnprocessedKeys: { [table]: { Keys: [{ pk, sk }] } } }
  }))
  expect((await readItems([keyOf('a'), keyOf('b')])).map(nameOf)).toEqual(['a', 'b'])
})

it('a query of several pages finds the items of every page', async () => {
  const numbers = ['1', '2', '3']
  await writeAll(numbers.map((sk) => ({ Put: { Item: { pk: 'TEST#pages', sk } } })))
  const values = { ':pk': 'TEST#pages' }
  const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: values, Limit: 1 }
  expect((await Array.fromAsync(queryItems(query))).map(({ sk }) => sk)).toEqual(numbers)
})

it('if a shared call fails, all reads that share it fail', async () => {
  await readTogether(async () => {
    failing = true
    const results = await Promise.allSettled([readItem(keyOf('a')), readItem(keyOf('b'))])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
  expect(calls).toHaveLength(1)
})

it('after a shared call that failed, later reads make a new call', async () => {
  await store('a')
  await readTogether(async () => {
    failing = true
    await Promise.allSettled([readItem(keyOf('a')), readItem(keyOf('b'))])
    failing = false
    expect(nameOf(await readItem(keyOf('a')))).toBe('a')
  })
  expect(calls).toHaveLength(2)
})

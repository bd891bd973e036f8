import { db } from './table.ts'

/** A stored item with values of every type that the table's items have. */
const item = '{"pk":{"S":"-"},"n":{"N":"0"},"b":{"B":"AA=="},"m":{"M":{"l":{"L":[{"N":"0.1"}]}}}}'

/**
 * Builds a response that fits GetItem, BatchGetItem and Query, and has no items of the table. It has only an
 * item of a table named `-`, so that the SDK also runs its decoding code.
 */
const nothing = () => ({
  statusCode: 200,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from(`{"Responses":{"-":[${item}]},"UnprocessedKeys":{},"Items":[],"Count":0}`),
})

/**
 * Runs `work` as if the table were empty: its reads are prepared, but not sent. `work` must not write. While
 * `work` runs, no other code of the process may begin a read, because that read would find nothing, too.
 */
export async function findNothing<Result>(work: () => Promise<Result>): Promise<Result> {
  const name = 'findNothing'
  db.middlewareStack.add(() => () => Promise.resolve({ response: nothing(), output: {} as never }), {
    step: 'deserialize',
    priority: 'low',
    name,
  })
  try {
    return await work()
  } finally {
    db.middlewareStack.remove(name)
  }
}

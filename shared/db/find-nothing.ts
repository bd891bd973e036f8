import { db } from './table.ts'

/** An answer of DynamoDB to GetItem, BatchGetItem or Query that finds no item. */
const nothing = () => ({
  statusCode: 200,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from('{"Responses":{},"UnprocessedKeys":{},"Items":[],"Count":0}'),
})

/**
 * Performs work whose reads find nothing and do not reach the table: the client does everything for a call
 * except sending it. Meanwhile, other work of the process must not read, and this work must not write.
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

import { db } from './table.ts'

/** An answer of DynamoDB to GetItem, BatchGetItem or Query that finds no item. */
const nothing = () => ({
  statusCode: 200,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from('{"Responses":{},"UnprocessedKeys":{},"Items":[],"Count":0}'),
})

/**
 * Performs work whose reads find nothing and do not call the table: the client does all that it does for a
 * call but send it. Other work of the process must not read meanwhile, and this work must not write.
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

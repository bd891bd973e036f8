import { db } from '../../shared/db/table.ts'

type Next = (args: unknown) => Promise<unknown>

const name = 'loseAnswers'

/**
 * Runs `work` while the answers to the first `count` commands of DynamoDB with this name are lost, unless
 * they are errors; `skip` commands before them are answered. All take effect before the SDK repeats one.
 */
export async function withLostFirstAnswers<T>(
  command: string,
  count: number,
  work: () => Promise<T>,
  { skip = 0 }: { skip?: number } = {},
): Promise<T> {
  const seen = new Set()
  let performed = 0
  const { promise: all, resolve: lose } = Promise.withResolvers<undefined>()
  // Below the SDK's retries, so that each of its attempts passes here.
  const middleware = (next: Next, context: { commandName?: string }) => async (args: unknown) => {
    const isFirst = context.commandName === command && !seen.has(context)
    if (isFirst) seen.add(context)
    const isLost = isFirst && seen.size > skip && seen.size <= skip + count
    if (!isLost) return next(args)
    try {
      await next(args)
    } finally {
      performed += 1
      if (performed === count) lose(undefined)
    }
    await all
    throw Object.assign(new Error('the answer is lost'), { name: 'TimeoutError' })
  }
  db.middlewareStack.add(middleware as never, { step: 'finalizeRequest', priority: 'low', name })
  try {
    const result = await work()
    if (performed < count) throw new Error('fewer commands were sent than answers were to be lost')
    return result
  } finally {
    db.middlewareStack.remove(name)
  }
}

const tails = new Map<string, Promise<unknown>>()

/**
 * Runs a task when every earlier task of this process with one of its keys has ended. Tasks that would only win and lose
 * races against each other take turns instead; other processes are none of its business.
 */
export async function runExclusive<T>(keys: string[], task: () => Promise<T>): Promise<T> {
  // All places are taken at once, so that no two tasks can wait for each other.
  const earlier = keys.map((key) => tails.get(key) ?? Promise.resolve())
  const result = Promise.allSettled(earlier).then(task)
  const tail = result.catch(() => undefined)
  for (const key of keys) tails.set(key, tail)
  try {
    return await result
  } finally {
    for (const key of keys) if (tails.get(key) === tail) tails.delete(key)
  }
}

const tails = new Map<string, Promise<unknown>>()

/**
 * A keyed mutex: runs a task after every earlier task of this process that shares a key with it has ended.
 * Tasks that would conflict with each other run one after the other instead. It does not exclude other
 * processes.
 */
export async function runExclusive<T>(keys: string[], task: () => Promise<T>): Promise<T> {
  // All keys of a task are taken at once, so that two tasks cannot wait for each other.
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

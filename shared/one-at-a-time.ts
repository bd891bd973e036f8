/**
 * Creates a function that does work for a key after all earlier work for the same key has ended, whether or
 * not it failed. Work for different keys does not wait. `newest` has the newest work of each key that has
 * work under way.
 */
export const oneAtATime =
  <Key>(newest = new Map<Key, Promise<unknown>>()) =>
  async <Result>(key: Key, work: () => Promise<Result>): Promise<Result> => {
    const own = (newest.get(key) ?? Promise.resolve()).then(work, work)
    newest.set(key, own)
    try {
      return await own
    } finally {
      if (newest.get(key) === own) newest.delete(key)
    }
  }

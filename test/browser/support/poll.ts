import { setTimeout } from 'node:timers/promises'

/** Calls `ask` every 50 ms until it returns a value other than undefined. Throws after `milliseconds`. */
export async function poll<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined>,
  milliseconds = 20_000,
): Promise<Answer> {
  const end = Date.now() + milliseconds
  do {
    const answer = await ask()
    if (answer !== undefined) return answer
    await setTimeout(50)
  } while (Date.now() < end)
  throw new Error(`${what} did not come within ${milliseconds} ms`)
}

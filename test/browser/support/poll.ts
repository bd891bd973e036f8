import { setTimeout } from 'node:timers/promises'

/** Asks again, every 50 ms and for at most so long, until there is an answer; throws where none comes. */
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
  throw new Error(`waited ${milliseconds} ms in vain for ${what}`)
}

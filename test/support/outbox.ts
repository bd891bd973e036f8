import { expect, vi } from 'vitest'
import { readOutbox } from './local-stack.ts'
import { patience } from './manners.ts'

/**
 * Waits until an address has received the expected number of mails, and returns the code in the newest one.
 */
export function mailedCode(to: string, mails = 1): Promise<string> {
  return vi.waitFor(
    async () => {
      const messages = await readOutbox(to)
      expect(messages).toHaveLength(mails)
      return /\b\d{6}\b/.exec(messages[0]?.text ?? '')?.[0] ?? ''
    },
    { timeout: patience(20_000), interval: 100 },
  )
}

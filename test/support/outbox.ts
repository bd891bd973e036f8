import { expect, vi } from 'vitest'
import { readOutbox } from './local-stack.ts'
import { patience, stackQuirks } from './quirks.ts'

/** Waits until an address has this number of mails, and returns the code in the newest mail. */
export function mailedCode(to: string, mails = 1): Promise<string> {
  return vi.waitFor(
    async () => {
      const messages = await readOutbox(to)
      const codes = messages.map(({ text }) => /\b\d{6}\b/.exec(text)?.[0] ?? '')
      // An event that is delivered twice can be mailed twice (see functions/intake/mail.requested.ts).
      expect(stackQuirks === undefined ? codes : [...new Set(codes)]).toHaveLength(mails)
      return codes[0] ?? ''
    },
    { timeout: patience(20_000), interval: 100 },
  )
}

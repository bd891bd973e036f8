import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'

/** `keys status`: every signing key with its state and instants, the evidence, and when the next step is due. */
export const addKeysStatus = (parent: Command, carry: Carry): Command =>
  parent
    .command('status')
    .description('Shows every signing key, its state, and when the next step is due.')
    .addHelpText(
      'after',
      examples([
        ['keys status', 'the keys of the local stack'],
        ['--stage prod keys status --json', 'keys, evidence and next_due as JSON'],
      ]),
    )
    .action(() =>
      carry(async ({ show }) => {
        const { readKeyStatus } = await import('../keys/read-key-status.ts')
        const { showKeyStatus } = await import('../keys/show-key-status.ts')
        const status = await readKeyStatus()
        show(status, () => showKeyStatus(status))
        return true
      }),
    )

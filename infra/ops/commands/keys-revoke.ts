import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'
import { showRotation } from '../keys/show-rotation.ts'

/** `keys revoke`: takes a key out of the key set at once. */
export const addKeysRevoke = (parent: Command, carry: Carry): Command =>
  parent
    .command('revoke')
    .argument('<kid>', 'the key, as in the key set')
    .description(
      'Takes a key out of the key set at once and disables it; a signer only with a new key in its place.',
    )
    .option('--by <name>', 'who asks, for the evidence', process.env['USER'])
    .addHelpText('after', examples([['--stage prod keys revoke KID', 'tokens of this key stop verifying']]))
    .action((kid: string, { by }: { by?: string }) =>
      carry((ops) => showRotation(ops, { action: 'revoke', kid, requested_by: by })),
    )

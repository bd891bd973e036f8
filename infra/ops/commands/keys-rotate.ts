import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'
import { showRotation } from '../keys/show-rotation.ts'

/** `keys rotate`: starts a rotation now. */
export const addKeysRotate = (parent: Command, carry: Carry): Command =>
  parent
    .command('rotate')
    .description('Starts a rotation now: a new key is published, and signs when everybody can know it.')
    .option('--emergency', 'the new key signs at once')
    .option('--by <name>', 'who asks, for the evidence', process.env['USER'])
    .addHelpText(
      'after',
      examples([
        ['keys rotate', 'publishes the next key ahead of time'],
        [
          '--stage prod keys rotate --emergency --by "A. Operator"',
          'replaces a signer that is not trusted any more',
        ],
      ]),
    )
    .action(({ emergency = false, by }: { emergency?: boolean; by?: string }) =>
      carry((ops) => showRotation(ops, { action: 'rotate', emergency, requested_by: by })),
    )

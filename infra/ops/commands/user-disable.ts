import type { Command } from 'commander'
import { randomUUID } from 'node:crypto'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'

/** `user disable`: ends a user's sessions and lets nobody sign in as them; `--undo` lets them sign in again. */
export const addUserDisable = (parent: Command, carry: Carry): Command =>
  parent
    .command('disable')
    .argument('<user>', 'user id or email address')
    .description(
      'Disables a user by the event user.updated: all their tokens end at once, and sign-in is refused.',
    )
    .option('--undo', 'let the user sign in again')
    .addHelpText(
      'after',
      examples([
        ['user disable 42', 'at once, everywhere'],
        ['user disable 42 --undo', 'sessions that were ended stay ended'],
      ]),
    )
    .action((reference: string, { undo = false }: { undo?: boolean }) =>
      carry(async ({ target, show }) => {
        const { findUser } = await import('../users/find-user.ts')
        const { sendOne } = await import('../events/send-one.ts')
        const { userId } = await findUser(reference)
        const updateId = randomUUID()
        await sendOne(target, {
          detailType: 'user.updated',
          businessKey: updateId,
          detail: { update_id: updateId, user_id: userId, at: Date.now(), disabled: !undo },
        })
        show({ user_id: userId, disabled: !undo }, () =>
          undo ? `User ${userId} may sign in again.` : `User ${userId} is disabled.`,
        )
        return true
      }),
    )

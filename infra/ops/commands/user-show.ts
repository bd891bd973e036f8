import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'

/** `user show`: who a user is and how they may sign in. */
export const addUserShow = (parent: Command, carry: Carry): Command =>
  parent
    .command('show')
    .argument('<user>', 'user id or email address')
    .description('Shows a user, without anything that signs in.')
    .addHelpText('after', examples([['user show alice@example.com', 'one of the demo users']]))
    .action((reference: string) =>
      carry(async ({ show }) => {
        const { findUser } = await import('../users/find-user.ts')
        const { describeUser, formatUser } = await import('../users/show-user.ts')
        const user = await findUser(reference)
        show(describeUser(user), () => formatUser(user))
        return true
      }),
    )

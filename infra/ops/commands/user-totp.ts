import type { Command } from 'commander'
import { randomUUID } from 'node:crypto'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'

/** `user totp`: enrols a new authenticator for a user, in place of one that they had. */
export const addUserTotp = (parent: Command, carry: Carry): Command =>
  parent
    .command('totp')
    .argument('<user>', 'user id or email address')
    .description('Gives a user a new authenticator secret by the event user.updated, and shows its QR code.')
    .addHelpText(
      'after',
      examples([['user totp alice@example.com', 'scan the code with an authenticator app']]),
    )
    .action((reference: string) =>
      carry(async ({ target, show }) => {
        const { findUser } = await import('../users/find-user.ts')
        const { newEnrolment, showEnrolment } = await import('../users/authenticator.ts')
        const { sendOne } = await import('../events/send-one.ts')
        const { userId, email } = await findUser(reference)
        const enrolment = newEnrolment('Account service', email)
        const updateId = randomUUID()
        await sendOne(target, {
          detailType: 'user.updated',
          businessKey: updateId,
          detail: {
            update_id: updateId,
            user_id: userId,
            at: Date.now(),
            totp_secret: enrolment.totp_secret,
          },
        })
        show({ user_id: userId, ...enrolment }, () => showEnrolment(enrolment))
        return true
      }),
    )

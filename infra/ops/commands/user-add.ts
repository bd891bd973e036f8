import type { Command } from 'commander'
import { createHash } from 'node:crypto'
import { examples } from '../examples.ts'
import { OperationFailed, UsageError } from '../problems.ts'
import { readCount } from '../read-count.ts'
import { readSecret } from '../read-secret.ts'
import type { Carry } from '../ops.ts'

interface AddOptions {
  id: string
  email: string
  nickname: string
  passwordStdin?: true
  totp?: true
  referrer?: number
}

/** `user add`: registers a user, by the event that the business server would send. */
export const addUserAdd = (parent: Command, carry: Carry): Command =>
  parent
    .command('add')
    .description('Registers a user by the event user.registered, and waits until it is applied.')
    .requiredOption('--id <number>', 'the user id')
    .requiredOption('--email <address>', 'the email address')
    .requiredOption('--nickname <name>', 'the name that others see')
    .option('--password-stdin', 'read the password from standard input; without one, no password signs in')
    .option('--totp', 'enrol an authenticator and show its QR code')
    .option('--referrer <number>', 'the user who referred them', readCount)
    .addHelpText(
      'after',
      examples([
        [
          'user add --id 42 --email me@example.com --nickname Me --password-stdin --totp < password.txt',
          'a user to sign in with',
        ],
      ]),
    )
    .action((options: AddOptions) =>
      carry(async ({ target, terminal, show }) => {
        const userId = Number(options.id)
        if (!/^[1-9]\d{0,15}$/.test(options.id) || !Number.isSafeInteger(userId))
          throw new UsageError('--id must be a whole number from 1')
        const password = options.passwordStdin ? await readSecret(terminal, 'password') : undefined
        const { newEnrolment, showEnrolment } = await import('../users/authenticator.ts')
        const { sendOne } = await import('../events/send-one.ts')
        const { readUser } = await import('../../../shared/users/user.ts')
        if ((await readUser(userId, { consistent: true })) !== undefined)
          throw new OperationFailed(`user ${userId} is registered already`)
        const enrolment = options.totp ? newEnrolment('Account service', options.email) : undefined
        await sendOne(target, {
          detailType: 'user.registered',
          businessKey: String(userId),
          detail: {
            user_id: userId,
            email: options.email,
            nickname: options.nickname,
            // What clients send for a password is its MD5.
            login_password: password && createHash('md5').update(password).digest('hex'),
            totp_secret: enrolment?.totp_secret,
            referrer_id: options.referrer,
            registered_at: Date.now(),
          },
        })
        show({ user_id: userId, ...enrolment }, () =>
          [`User ${userId} is registered.`, ...(enrolment ? [showEnrolment(enrolment)] : [])].join('\n'),
        )
        return true
      }),
    )

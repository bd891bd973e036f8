import type { Command } from 'commander'
import { createHash, randomUUID } from 'node:crypto'
import { examples, readSecret, readUserId, type RunCommand } from '../command.ts'
import { OperationError } from '../errors.ts'
import type { Target } from '../target.ts'
import type { Enrolment } from '../users.ts'

interface AddOptions {
  id: number
  email: string
  nickname: string
  passwordStdin?: true
  totp?: true
  referrer?: number
}

/**
 * Adds the command group `user`. Its commands change users with the same events that the business server
 * sends.
 */
export function addUserCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command('user')
    .description('Shows and changes users, with the same events as the business server.')
  addAdd(parent, run)
  addShow(parent, run)
  addDisable(parent, run)
  addTotp(parent, run)
}

const addAdd = (parent: Command, run: RunCommand): Command =>
  parent
    .command('add')
    .description('Registers a user with a user.registered event, and waits until it has taken effect.')
    .requiredOption('--id <number>', 'the user id', readUserId)
    .requiredOption('--email <address>', 'the email address')
    .requiredOption('--nickname <name>', 'the name that other members see')
    .option('--password-stdin', 'read the password from standard input (default: no sign-in by password)')
    .option('--totp', 'enrol an authenticator and show its QR code')
    .option('--referrer <number>', 'the id of the user who referred this one', readUserId)
    .addHelpText(
      'after',
      examples({
        'user add --id 42 --email me@example.com --nickname Me --password-stdin --totp < password.txt':
          'registers a user who can sign in',
      }),
    )
    .action((options: AddOptions) =>
      run(async ({ target, terminal, show }) => {
        const password = options.passwordStdin ? await readSecret(terminal, 'password') : undefined
        const { formatEnrolment, newEnrolment } = await import('../users.ts')
        const enrolment = options.totp ? newEnrolment(options.email) : undefined
        await register(target, options, { password, enrolment })
        show({ user_id: options.id, ...enrolment }, () =>
          [`User ${options.id} is registered.`, ...(enrolment ? [formatEnrolment(enrolment)] : [])].join(
            '\n',
          ),
        )
        return true
      }),
    )

async function register(
  target: Target,
  { id: userId, email, nickname, referrer }: AddOptions,
  { password, enrolment }: { password: string | undefined; enrolment: Enrolment | undefined },
): Promise<void> {
  const { sendAndConfirm } = await import('../events/send-and-confirm.ts')
  const { readUser } = await import('../../../shared/users/user.ts')
  if ((await readUser(userId, { consistent: true })) !== undefined)
    throw new OperationError(`user ${userId} is registered already`)
  await sendAndConfirm(target, {
    detailType: 'user.registered',
    businessKey: String(userId),
    detail: {
      user_id: userId,
      email,
      nickname,
      // The service takes the MD5 of a password as the password, because that is what clients send.
      login_password: password && createHash('md5').update(password).digest('hex'),
      totp_secret: enrolment?.totp_secret,
      referrer_id: referrer,
      registered_at: Date.now(),
    },
  })
}

const addShow = (parent: Command, run: RunCommand): Command =>
  parent
    .command('show')
    .argument('<user>', 'user id or email address')
    .description('Shows a user, without their secrets.')
    .addHelpText('after', examples({ 'user show alice@example.com': 'shows one of the demo users' }))
    .action((reference: string) =>
      run(async ({ show }) => {
        const { describeUser, findUser, formatUser } = await import('../users.ts')
        const user = await findUser(reference)
        show(describeUser(user), () => formatUser(user))
        return true
      }),
    )

const addDisable = (parent: Command, run: RunCommand): Command =>
  parent
    .command('disable')
    .argument('<user>', 'user id or email address')
    .description('Disables a user with a user.updated event: ends all their sessions and blocks sign-in.')
    .option('--undo', 'allow the user to sign in again')
    .addHelpText(
      'after',
      examples({
        'user disable 42': 'ends all sessions of user 42 at once',
        'user disable 42 --undo': 'allows new sign-ins; the ended sessions stay ended',
      }),
    )
    .action((reference: string, { undo = false }: { undo?: boolean }) =>
      run(async ({ target, show }) => {
        const { findUser } = await import('../users.ts')
        const { userId } = await findUser(reference)
        await update(target, userId, 'disabled', !undo)
        show({ user_id: userId, disabled: !undo }, () =>
          undo ? `User ${userId} may sign in again.` : `User ${userId} is disabled.`,
        )
        return true
      }),
    )

const addTotp = (parent: Command, run: RunCommand): Command =>
  parent
    .command('totp')
    .argument('<user>', 'user id or email address')
    .description(
      'Replaces a user’s authenticator secret with a user.updated event, which ends all their sessions, and shows the new QR code.',
    )
    .addHelpText(
      'after',
      examples({ 'user totp alice@example.com': 'shows a QR code to scan with an authenticator app' }),
    )
    .action((reference: string) =>
      run(async ({ target, show }) => {
        const { findUser, formatEnrolment, newEnrolment } = await import('../users.ts')
        const { userId, email } = await findUser(reference)
        const enrolment = newEnrolment(email)
        await update(target, userId, 'totp_secret', enrolment.totp_secret)
        show({ user_id: userId, ...enrolment }, () => formatEnrolment(enrolment))
        return true
      }),
    )

async function update(
  target: Target,
  userId: number,
  field: 'disabled' | 'totp_secret',
  value: boolean | string,
): Promise<void> {
  const { sendAndConfirm } = await import('../events/send-and-confirm.ts')
  const { isUpdated } = await import('../users.ts')
  const [updateId, at] = [randomUUID(), Date.now()]
  await sendAndConfirm(target, {
    detailType: 'user.updated',
    businessKey: updateId,
    detail: { update_id: updateId, user_id: userId, at, [field]: value },
    isComplete: () => isUpdated({ userId, at, updateId }, field),
  })
}

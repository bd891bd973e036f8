import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { UsageError } from '../problems.ts'
import type { Carry } from '../ops.ts'

/** `dlq drop`: deletes dead letters that can never be applied. */
export const addDlqDrop = (parent: Command, carry: Carry): Command =>
  parent
    .command('drop')
    .argument('<name>', 'the event or the queue, for example user.registered')
    .description('Deletes dead letters for good. Keep a copy first: dlq show NAME --json.')
    .option('--reason <code>', 'only those whose reason begins so')
    .option('--message <id>', 'only this one, as `dlq show` names it')
    .option('--yes', 'really delete')
    .addHelpText(
      'after',
      examples([
        ['dlq drop reward.granted --reason invalid_detail --yes', 'when the sender has sent better ones'],
      ]),
    )
    .action((name: string, { reason, message, yes }: { reason?: string; message?: string; yes?: true }) => {
      if (!yes) throw new UsageError('dead letters are deleted for good: say --yes')
      return carry(async ({ target, show }) => {
        const { findQueue, openSqs, queueUrl } = await import('../dead-letters/queues.ts')
        const { dropDeadLetters } = await import('../dead-letters/drop.ts')
        const { hasReason } = await import('../dead-letters/dead-letter.ts')
        const { deadLetters } = findQueue(target, name)
        const sqs = openSqs()
        const dropped = await dropDeadLetters(
          sqs,
          await queueUrl(sqs, deadLetters),
          (letter) => hasReason(letter, reason) && (message === undefined || letter.id === message),
        )
        sqs.destroy()
        show({ dropped }, () => `${dropped} deleted from ${deadLetters}.`)
        return true
      })
    })

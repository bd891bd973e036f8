import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'

/** `dlq redrive`: hands dead letters to their function again. */
export const addDlqRedrive = (parent: Command, carry: Carry): Command =>
  parent
    .command('redrive')
    .argument('<name>', 'the event or the queue, for example user.registered')
    .description(
      'Sends dead letters back to their queue. Each takes effect once, however often it is redriven.',
    )
    .option('--reason <code>', 'only those whose reason begins so')
    .addHelpText(
      'after',
      examples([
        ['dlq redrive deposit.updated --reason unknown_address', 'when what was missing has arrived'],
      ]),
    )
    .action((name: string, { reason }: { reason?: string }) =>
      carry(async ({ target, show }) => {
        const { findQueue, openSqs, queueUrl } = await import('../dead-letters/queues.ts')
        const { redriveDeadLetters } = await import('../dead-letters/redrive.ts')
        const { hasReason } = await import('../dead-letters/dead-letter.ts')
        const pair = findQueue(target, name)
        const sqs = openSqs()
        const redriven = await redriveDeadLetters(sqs, {
          from: await queueUrl(sqs, pair.deadLetters),
          to: await queueUrl(sqs, pair.queue),
          fits: (letter) => hasReason(letter, reason),
        })
        sqs.destroy()
        show({ redriven }, () => `${redriven} sent back to ${pair.queue}.`)
        return true
      }),
    )

import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { readCount } from '../read-count.ts'
import type { Carry } from '../ops.ts'
import { formatInstant, formatTable } from '../terminal.ts'

/** `dlq show`: the dead letters of a queue, with their reasons. They stay where they are. */
export const addDlqShow = (parent: Command, carry: Carry): Command =>
  parent
    .command('show')
    .argument('<name>', 'the event or the queue, for example user.registered')
    .description('Shows dead letters and why they were given up. With --json whole, so that it makes a copy.')
    .option('--limit <number>', 'how many at most', readCount, 100)
    .option('--reason <code>', 'only those whose reason begins so')
    .addHelpText(
      'after',
      examples([
        ['dlq show user.registered --limit 20', 'usually one reason from one sender'],
        ['dlq show reward.granted --json --limit 10000 > copy.json', 'keeps a copy before a drop'],
      ]),
    )
    .action((name: string, { limit, reason }: { limit: number; reason?: string }) =>
      carry(async ({ target, show }) => {
        const { findQueue, openSqs, queueUrl } = await import('../dead-letters/queues.ts')
        const { collectDeadLetters } = await import('../dead-letters/collect.ts')
        const { hasReason } = await import('../dead-letters/dead-letter.ts')
        const { deadLetters } = findQueue(target, name)
        const sqs = openSqs()
        const letters = await collectDeadLetters(sqs, await queueUrl(sqs, deadLetters), {
          limit,
          fits: (letter) => hasReason(letter, reason),
        })
        sqs.destroy()
        const messages = letters.map(({ id, reason: why, detailType, source, since, body }) => ({
          id,
          reason: why,
          detail_type: detailType,
          source,
          since,
          body,
        }))
        show({ messages }, () =>
          formatTable(
            ['MESSAGE', 'SINCE', 'FROM', 'REASON'],
            messages.map((message) => [
              message.id,
              formatInstant(message.since),
              message.source ?? '-',
              message.reason ?? 'given up after too many receives',
            ]),
          ),
        )
        return true
      }),
    )

import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'
import { formatTable } from '../terminal.ts'

/** `dlq list`: every queue with what waits in it, and its dead letters. */
export const addDlqList = (parent: Command, carry: Carry): Command =>
  parent
    .command('list')
    .description(
      'Shows every queue, the messages that wait in it, and its dead letters; exits 1 if there are any.',
    )
    .addHelpText('after', examples([['dlq list', 'where events have been refused']]))
    .action(() =>
      carry(async ({ target, show }) => {
        const { countMessages, listQueues, openSqs, sumOf } = await import('../dead-letters/queues.ts')
        const sqs = openSqs()
        const queues = await Promise.all(
          listQueues(target).map(async ({ name, queue, deadLetters }) => ({
            name,
            waiting: sumOf(await countMessages(sqs, queue)),
            dead_letters: sumOf(await countMessages(sqs, deadLetters)),
          })),
        )
        sqs.destroy()
        show({ queues }, () =>
          formatTable(
            ['QUEUE', 'WAITING', 'DEAD LETTERS'],
            queues.map(({ name, waiting, dead_letters: dead }) => [name, String(waiting), String(dead)]),
          ),
        )
        return queues.every(({ dead_letters: dead }) => dead === 0)
      }),
    )

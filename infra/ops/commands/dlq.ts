import type { SQSClient } from '@aws-sdk/client-sqs'
import type { Command } from 'commander'
import { type CommandContext, examples, readCount, type RunCommand } from '../command.ts'
import type { QueuePair } from '../dead-letters/queues.ts'
import { UsageError } from '../errors.ts'
import { formatInstant, formatTable } from '../terminal.ts'

const nameArgument = [
  '<name>',
  'the event or the queue, for example user.registered; unmatched for events that no rule takes',
] as const
const reasonOption = ['--reason <code>', 'only dead letters whose reason starts with this'] as const

/** Adds the command group `dlq`, which shows, redrives and drops dead letters. */
export function addDeadLetterCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command('dlq')
    .description('Handles dead letters: events that were rejected or failed too often.')
  addList(parent, run)
  addShow(parent, run)
  addRedrive(parent, run)
  addDrop(parent, run)
}

const addList = (parent: Command, run: RunCommand): Command =>
  parent
    .command('list')
    .description(
      'Lists every queue with its numbers of waiting messages and dead letters; exits 1 if there are dead letters.',
    )
    .addHelpText('after', examples({ 'dlq list': 'shows which events were rejected' }))
    .action(() =>
      run(async ({ target, show }) => {
        const { countMessages, listQueues, openSqs, totalOf } = await import('../dead-letters/queues.ts')
        const sqs = openSqs()
        const queues = await Promise.all(
          listQueues(target).map(async ({ name, queue, deadLetters }) => ({
            name,
            waiting: queue === undefined ? 0 : totalOf(await countMessages(sqs, queue)),
            dead_letters: totalOf(await countMessages(sqs, deadLetters)),
          })),
        )
        show({ queues }, () =>
          formatTable(
            ['QUEUE', 'WAITING', 'DEAD LETTERS'],
            queues.map(({ name, waiting, dead_letters: dead }) => [name, String(waiting), String(dead)]),
          ),
        )
        return queues.every(({ dead_letters: dead }) => dead === 0)
      }),
    )

/** Opens the queue pair of a name for a command, and closes the SQS client afterwards. */
async function withQueue<Result>(
  { target }: CommandContext,
  name: string,
  work: (sqs: SQSClient, pair: QueuePair) => Promise<Result>,
): Promise<Result> {
  const { findQueue, openSqs } = await import('../dead-letters/queues.ts')
  const pair = findQueue(target, name)
  const sqs = openSqs()
  return work(sqs, pair)
}

const addShow = (parent: Command, run: RunCommand): Command =>
  parent
    .command('show')
    .argument(...nameArgument)
    .description(
      'Shows dead letters and the reasons for them. With --json it shows whole messages, which makes a copy.',
    )
    .option('--limit <number>', 'maximum number of dead letters', readCount, 100)
    .option(...reasonOption)
    .addHelpText(
      'after',
      examples({
        'dlq show user.registered --limit 20': 'shows the reasons of the first 20',
        'dlq show reward.granted --json --limit 10000 > copy.json': 'saves a copy before a drop',
      }),
    )
    .action((name: string, { limit, reason }: { limit: number; reason?: string }) =>
      run((context) =>
        withQueue(context, name, async (sqs, { deadLetters }) => {
          const { collectDeadLetters, hasReason } = await import('../dead-letters/actions.ts')
          const letters = await collectDeadLetters(sqs, deadLetters, {
            limit,
            matches: (letter) => hasReason(letter, reason),
          })
          const messages = letters.map((letter) => ({
            id: letter.id,
            reason: letter.reason,
            detail_type: letter.detailType,
            source: letter.source,
            since: letter.since,
            body: letter.body,
          }))
          context.show({ messages }, () =>
            formatTable(
              ['MESSAGE', 'SINCE', 'SOURCE', 'REASON'],
              messages.map((message) => [
                message.id,
                formatInstant(message.since),
                message.source ?? '-',
                message.reason ?? 'received too often',
              ]),
            ),
          )
          return true
        }),
      ),
    )

const addRedrive = (parent: Command, run: RunCommand): Command =>
  parent
    .command('redrive')
    .argument(...nameArgument)
    .description(
      'Sends dead letters back to their queue. An event takes effect once, however often it is redriven.',
    )
    .option(...reasonOption)
    .addHelpText(
      'after',
      examples({
        'dlq redrive deposit.updated --reason unknown_address':
          'retries deposits whose addresses have been added since',
      }),
    )
    .action((name: string, { reason }: { reason?: string }) =>
      run((context) =>
        withQueue(context, name, async (sqs, pair) => {
          const { hasReason, redriveDeadLetters } = await import('../dead-letters/actions.ts')
          const redriven = await redriveDeadLetters(sqs, pair, (letter) => hasReason(letter, reason))
          context.show({ redriven }, () => `${redriven} sent back to ${pair.queue}.`)
          return true
        }),
      ),
    )

const addDrop = (parent: Command, run: RunCommand): Command =>
  parent
    .command('drop')
    .argument(...nameArgument)
    .description('Deletes dead letters for good. Save a copy first: dlq show NAME --json.')
    .option(...reasonOption)
    .option('--message <id>', 'only this message, by the id that `dlq show` prints')
    .option('--yes', 'confirm the deletion')
    .addHelpText(
      'after',
      examples({
        'dlq drop reward.granted --reason invalid_detail --yes':
          'deletes invalid events that their sender has replaced',
      }),
    )
    .action((name: string, { reason, message, yes }: { reason?: string; message?: string; yes?: true }) => {
      if (!yes) throw new UsageError('dead letters are deleted for good: confirm with --yes')
      return run((context) =>
        withQueue(context, name, async (sqs, { deadLetters }) => {
          const { dropDeadLetters, hasReason } = await import('../dead-letters/actions.ts')
          const dropped = await dropDeadLetters(
            sqs,
            deadLetters,
            (letter) => hasReason(letter, reason) && (message === undefined || letter.id === message),
          )
          context.show({ dropped }, () => `${dropped} deleted from ${deadLetters}.`)
          return true
        }),
      )
    })

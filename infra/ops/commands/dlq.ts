import type { SQSClient } from '@aws-sdk/client-sqs'
import type { Command } from 'commander'
import { type CommandContext, examples, readCount, type RunCommand } from '../command.ts'
import type { QueuePair } from '../dead-letters/queues.ts'
import type { DeadLetter } from '../dead-letters/visit.ts'
import { UsageError } from '../errors.ts'

interface Options {
  reason?: string
  limit?: number
  message?: string
  yes?: true
}

/** What a command needs to work on the dead letters of one queue. */
interface Chosen {
  sqs: SQSClient
  pair: QueuePair
  options: Options
  /** Whether a dead letter's reason starts with the value of `--reason`. Always true without this option. */
  matches: (letter: DeadLetter) => boolean
  show: CommandContext['show']
}

/** Adds the command group `dlq`, which shows, redrives and drops dead letters. */
export function addDeadLetterCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command('dlq')
    .description('Handles dead letters: events that were rejected or failed too often.')
  parent
    .command('list')
    .description(
      'Lists every queue with its numbers of waiting messages and dead letters; exits 1 if there are dead letters.',
    )
    .action(() =>
      run(async ({ target, show }) => {
        const { listQueueCounts } = await import('../dead-letters/queues.ts')
        const queues = await listQueueCounts(target)
        return show({ queues }, { ok: queues.every(({ dead_letters: dead }) => dead === 0) })
      }),
    )
  const add = (name: string, description: string, work: (chosen: Chosen) => Promise<boolean>): Command =>
    parent
      .command(name)
      .description(description)
      .argument(
        '<name>',
        'the event or the queue, for example user.registered; unmatched for events that no rule takes; key-changes, which the local stack does not have',
      )
      .option('--reason <code>', 'only dead letters whose reason starts with this')
      .action((queue: string, options: Options) =>
        run(async ({ target, show }) => {
          const { findQueue, openSqs } = await import('../dead-letters/queues.ts')
          const { hasReason } = await import('../dead-letters/actions.ts')
          const matches = (letter: DeadLetter) => hasReason(letter, options.reason)
          return work({ sqs: openSqs(), pair: findQueue(target, queue), options, matches, show })
        }),
      )
  add('show', 'Shows dead letters and their reasons; with --json whole messages, as a copy.', showLetters)
    .option('--limit <number>', 'maximum number of dead letters', readCount, 100)
    .addHelpText(
      'after',
      examples({ 'dlq show reward.granted --json --limit 10000 > copy.json': 'saves a copy before a drop' }),
    )
  add(
    'redrive',
    'Sends dead letters back to their queue. An event takes effect once, however often it is redriven.',
    redrive,
  )
  add('drop', 'Deletes dead letters for good. Save a copy first: dlq show NAME --json.', drop)
    .option('--message <id>', 'only this message, by the id that `dlq show` prints')
    .option('--yes', 'confirm the deletion')
    .hook('preAction', (command) => {
      if (!command.opts<Options>().yes)
        throw new UsageError('dead letters are deleted for good: confirm with --yes')
    })
}

async function showLetters({ sqs, pair, options, matches, show }: Chosen): Promise<boolean> {
  const { collectDeadLetters } = await import('../dead-letters/actions.ts')
  const letters = await collectDeadLetters(sqs, pair.deadLetters, { limit: options.limit ?? 0, matches })
  const rows = letters.map(({ id, since, source, reason, detailType }) => ({
    id,
    since,
    detail_type: detailType,
    source,
    reason,
  }))
  const messages = rows.map((row, i) => ({ ...row, body: letters[i]?.body }))
  return show({ messages }, { text: { messages: rows } })
}

async function redrive({ sqs, pair, matches, show }: Chosen): Promise<boolean> {
  const { redriveDeadLetters } = await import('../dead-letters/actions.ts')
  return show({ redriven: await redriveDeadLetters(sqs, pair, matches) })
}

async function drop({ sqs, pair, options: { message }, matches, show }: Chosen): Promise<boolean> {
  const { dropDeadLetters } = await import('../dead-letters/actions.ts')
  const isChosen = (letter: DeadLetter) => matches(letter) && (message === undefined || letter.id === message)
  return show({ dropped: await dropDeadLetters(sqs, pair.deadLetters, isChosen) })
}

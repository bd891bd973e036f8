import type { SQSClient } from '@aws-sdk/client-sqs'
import type { Command } from 'commander'
import { type CommandContext, examples, readCount, type RunCommand } from '../command.ts'
import type { QueuePair } from '../dead-letters/queues.ts'
import type { DeadLetter } from '../dead-letters/visit.ts'
import { OperationError, UsageError } from '../errors.ts'
import { startProgress } from '../progress.ts'

interface Options {
  reason?: string
  limit?: number
  message?: string
  save?: string
  unsaved?: true
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
  json: boolean
  terminal: CommandContext['terminal']
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
        const { reportQueues } = await import('../reports/queues.ts')
        const queues = await listQueueCounts(target)
        return show({ queues }, { report: reportQueues(queues) })
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
        run(async ({ target, show, json, terminal }) => {
          const { findQueue, openSqs } = await import('../dead-letters/queues.ts')
          const { hasReason } = await import('../dead-letters/actions.ts')
          const matches = (letter: DeadLetter) => hasReason(letter, options.reason)
          const pair = findQueue(target, queue)
          return work({ sqs: openSqs(), pair, options, matches, show, json, terminal })
        }),
      )
  add('show', 'Shows dead letters and their reasons, and says so if there are more.', showLetters)
    .option(
      '--limit <number>',
      'maximum number of dead letters (default: 100, or all with --json)',
      readCount,
    )
    .addHelpText(
      'after',
      examples({ 'dlq show reward.granted --json > copy.json': 'writes whole messages, all of them' }),
    )
  add(
    'redrive',
    'Sends dead letters back to their queue. An event takes effect once, however often it is redriven.',
    redrive,
  )
  add('drop', 'Deletes dead letters for good, each after it was saved to a file.', drop)
    .option('--message <id>', 'only this message, by the id that `dlq show` prints')
    .option('--save <file>', 'file to which each message is added before its deletion, one JSON a line')
    .option('--unsaved', 'delete without saving')
    .option('--yes', 'confirm the deletion')
    .addHelpText(
      'after',
      examples({ 'dlq drop reward.granted --save copy.ndjson --yes': 'moves all dead letters to the file' }),
    )
    .hook('preAction', (command) => {
      const { yes, save, unsaved, message } = command.opts<Options>()
      if (!yes) throw new UsageError('dead letters are deleted for good: confirm with --yes')
      if (save === undefined && unsaved === undefined && message === undefined)
        throw new UsageError('choose --save FILE to keep a copy of what is deleted, or --unsaved')
    })
}

/** Maximum number of dead letters that `dlq show` prints for a person, unless `--limit` says otherwise. */
const maxShown = 100

async function showLetters({ sqs, pair, options, matches, show, json, terminal }: Chosen): Promise<boolean> {
  const { collectDeadLetters } = await import('../dead-letters/actions.ts')
  const limit = options.limit ?? (json ? Infinity : maxShown)
  const { letters, notRead } = await collectDeadLetters(sqs, pair.deadLetters, { limit, matches })
  const rows = letters.map(toRow)
  const messages = letters.map((letter) => ({ ...toRow(letter), body: letter.body }))
  const whole = notRead === 0
  if (!whole)
    terminal.err(
      `not all: ${letters.length} dead letters are shown, and about ${notRead} others are in the queue${
        letters.length < limit
          ? ', held by another reader, or behind these in their message groups: show them after these are redriven or dropped'
          : ': see --limit'
      }`,
    )
  // A copy that was to be whole and is not is a failure.
  const ok = whole || letters.length === limit
  return show({ whole, not_shown: notRead, messages }, { ok, text: { messages: rows } })
}

const toRow = ({ id, since, source, reason, detailType }: DeadLetter) => ({
  id,
  since,
  detail_type: detailType,
  source,
  reason,
})

async function redrive({ sqs, pair, matches, show, terminal }: Chosen): Promise<boolean> {
  const { redriveDeadLetters } = await import('../dead-letters/actions.ts')
  using progress = startProgress(terminal, 'redriving', 'dead letters')
  const redriven = await redriveDeadLetters(sqs, pair, matches, progress.show)
  return show({ redriven })
}

async function drop({
  sqs,
  pair,
  options: { message, save },
  matches,
  show,
  terminal,
}: Chosen): Promise<boolean> {
  const { dropDeadLetters } = await import('../dead-letters/actions.ts')
  const isChosen = (letter: DeadLetter) => matches(letter) && (message === undefined || letter.id === message)
  using progress = startProgress(terminal, 'deleting', 'dead letters')
  const dropChosen = (before?: (letter: DeadLetter) => Promise<unknown>) =>
    dropDeadLetters(sqs, pair.deadLetters, isChosen, before, progress.show)
  if (save === undefined) return show({ dropped: await dropChosen() })
  const { open } = await import('node:fs/promises')
  await using file = await open(save, 'a').catch((cause: unknown) => {
    throw new OperationError(`cannot write the copy: ${String(cause)}`, { cause })
  })
  const keep = async (letter: DeadLetter) => {
    await file.appendFile(`${JSON.stringify({ ...toRow(letter), body: letter.body })}\n`)
    await file.datasync()
  }
  return show({ dropped: await dropChosen(keep), saved_to: save })
}

import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { randomInt, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { dropDeadLetters, hasReason } from '../../../../infra/ops/dead-letters/actions.ts'
import { countMessagesAt, openSqs, queueUrl } from '../../../../infra/ops/dead-letters/queues.ts'
import { readUser } from '../../../../shared/users/user.ts'
import { waitForDeadLetter } from '../../../support/bus.ts'
import { readOutbox, useLocalStack } from '../../../support/local-stack.ts'
import { newDirectory } from '../../../support/new-directory.ts'
import { putEvents } from '../../../support/put-event.ts'
import { ops } from '../run-ops.ts'

const queue = 'user-registered-dead-letters'
const sqs = openSqs()
afterAll(() => sqs.destroy())

/** Fills a dead-letter queue that no other test uses with messages; in a FIFO queue they are of one group. */
async function fill(name: string, count: number): Promise<void> {
  const QueueUrl = await queueUrl(sqs, name)
  await dropDeadLetters(sqs, name, () => true)
  const fifo = (number: number) =>
    name.endsWith('.fifo')
      ? { MessageGroupId: 'one', MessageDeduplicationId: `${name}-${number}-${randomUUID()}` }
      : {}
  for (let number = 0; number < count; number += 1)
    await sqs.send(
      new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify({ number }), ...fifo(number) }),
    )
}

async function plant(
  reason: string,
  userId: number,
  { source = 'test', nickname = 'N', refusals = 1 } = {},
): Promise<void> {
  const email = `user-${userId}@example.com`
  const detail = { user_id: userId, email, nickname, registered_at: Date.now() }
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: await queueUrl(sqs, queue),
      MessageBody: JSON.stringify({ 'detail-type': 'user.registered', source, resources: [], detail }),
      MessageAttributes: {
        reason: { DataType: 'String', StringValue: reason },
        refusals: { DataType: 'Number', StringValue: String(refusals) },
      },
    }),
  )
}

const show = async (reason: string) => {
  const command = `dlq show user.registered --reason ${reason} --json`
  const { out } = await ops(command.split(' '))
  return (JSON.parse(out) as { messages: { id: string; body: string; reason: string }[] }).messages
}

it('`dlq show` removes no dead letters; `dlq redrive` and `dlq drop` remove those that match', async () => {
  const [first, second] = [`test-${randomUUID()}`, `test-${randomUUID()}`]
  const [later, never] = [randomInt(1, 2 ** 40), randomInt(1, 2 ** 40)]
  await plant(first, later)
  await plant(second, never)
  expect(await show(first)).toMatchObject([{ reason: first }])
  expect(await show(first)).toHaveLength(1)

  const redriven = await ops(['dlq', 'redrive', 'user-registered', '--reason', first, '--json'])
  expect(JSON.parse(redriven.out)).toEqual({ redriven: 1 })
  await expect.poll(() => readUser(later, { consistent: true }), { timeout: 20_000 }).toBeDefined()
  expect(await show(first)).toEqual([])

  const [message] = await show(second)
  const drop = ['dlq', 'drop', 'user.registered', '--yes', '--json', '--message']
  expect(JSON.parse((await ops([...drop, randomUUID()])).out)).toEqual({ dropped: 0 })
  expect(JSON.parse((await ops([...drop, message?.id ?? ''])).out)).toEqual({ dropped: 1 })
  expect(await show(second)).toEqual([])
  expect(await readUser(never, { consistent: true })).toBeUndefined()
}, 120_000)

it('a dead letter is not deleted if the step before its deletion fails', async () => {
  const reason = `test-${randomUUID()}`
  await plant(reason, 1)
  const refuse = () => Promise.reject(new Error('refused'))
  const dropped = dropDeadLetters(sqs, queue, (letter) => hasReason(letter, reason), refuse)
  await expect(dropped).rejects.toThrow('refused')
  expect(await show(reason)).toHaveLength(1)
})

it('an older dead letter is found after a batch of newer ones', async () => {
  const reason = `test-${randomUUID()}`
  const QueueUrl = await queueUrl(sqs, queue)
  await plant(reason, 1)
  // Another consumer holds the first dead letter for a second.
  await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 1 }))
  await plant(reason, 2)
  const plantNewer = () => plant(reason, 3)
  expect(await dropDeadLetters(sqs, queue, (letter) => hasReason(letter, reason), plantNewer)).toBe(2)
})

it('`dlq redrive` keeps an event’s number of refusals, which the next refusal increases', async () => {
  const [reason, userId] = [`test-${randomUUID()}`, randomInt(1, 2 ** 40)]
  await plant(reason, userId, { nickname: '', refusals: 7 })
  await ops(['dlq', 'redrive', 'user-registered', '--reason', reason, '--json'])
  const letter = await waitForDeadLetter('user.registered', `"user_id":${userId},`)
  expect(letter).toMatchObject({ reason: expect.stringMatching(/^invalid_detail/) as unknown, refusals: '8' })
}, 60_000)

it('`dlq show` escapes the control and bidi characters in an event', async () => {
  const reason = `test-${randomUUID()}`
  await plant(reason, randomInt(1, 2 ** 40), {
    source: '\u001b]0;title\u0007\u009b2J\u202e\nuser.registered',
  })
  for (const format of [[], ['--json']]) {
    const { out } = await ops(['dlq', 'show', 'user.registered', '--reason', reason, ...format])
    expect(out).toContain(reason)
    expect(out).toMatch(/^[ -~\n]*$/)
    expect(out.split('\n').filter((line) => line.startsWith('user.registered'))).toEqual([])
  }
})

it('an event that no rule matches is kept, and a mail.requested event from another sender sends no mail', async () => {
  const [mailId, userId] = [`mail-${randomUUID()}`, randomInt(1, 2 ** 40)]
  const to = `${mailId}@example.com`
  const mail = { mail_id: mailId, kind: 'code', to, code: '012345', expires_at: Date.now() + 60_000 }
  await putEvents('mail.requested', [mail], 'stranger')
  await putEvents('user.deleted', [{ user_id: userId }])
  const kept = async () => {
    const { out } = await ops(['dlq', 'show', 'unmatched', '--json', '--limit', '10000'])
    const { messages } = JSON.parse(out) as { messages: { body: string; detail_type: string }[] }
    return messages
      .filter(({ body }) => body.includes(mailId) || body.includes(String(userId)))
      .map((message) => message.detail_type)
  }
  await expect.poll(kept, { timeout: 20_000 }).toEqual(['mail.requested', 'user.deleted'])
  expect(await readOutbox(to)).toEqual([])

  expect(await ops(['dlq', 'redrive', 'unmatched'])).toMatchObject({
    code: 2,
    err: 'usage: these events are only kept, and have no queue to go back to',
  })
  const { dead_letter_queues: queues } = await useLocalStack()
  expect(queues.map(({ name }) => name)).toContain('unmatched-dead-letters')
})

const numbersIn = (messages: { body: string }[]) =>
  messages.map(({ body }) => (JSON.parse(body) as { number: number }).number).sort((a, b) => a - b)
const readLines = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { body: string })
const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

it('a copy by `dlq show --json` is whole, and one with a limit says that it is not', async () => {
  await fill('device-deactivated-dead-letters', 130)
  const show = (...options: string[]) => ops(['dlq', 'show', 'device.deactivated', ...options])
  const whole = await show('--json')
  expect(whole).toMatchObject({ code: 0, err: '' })
  const copy = JSON.parse(whole.out) as { whole: boolean; messages: { body: string }[] }
  expect(copy.whole).toBe(true)
  expect(numbersIn(copy.messages)).toEqual(upTo(130))

  const part = await show('--json', '--limit', '25')
  expect(part).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^not all: 25 .+ about 105 others/) as string,
  })
  expect(JSON.parse(part.out)).toMatchObject({ whole: false, not_shown: 105 })
  expect((await show()).err).toMatch(/^not all: 100 dead letters are shown, and about 30 others/)
})

it('`dlq drop` deletes nothing without a copy, unless it is told to, and deletes only what it has saved', async () => {
  const [name, queue] = ['device.activated', 'device-activated-dead-letters']
  const file = join(newDirectory(), 'dropped.ndjson')
  const drop = (...options: string[]) => ops(['dlq', 'drop', name, '--yes', '--json', ...options])
  await fill(queue, 112)
  expect(await drop()).toMatchObject({ code: 2, err: expect.stringContaining('--save FILE') as string })
  expect(await drop('--save', '/no/such/directory/file')).toMatchObject({ code: 1 })
  expect(await listQueueCount(queue)).toBe(112)

  expect(JSON.parse((await drop('--save', file)).out)).toEqual({ dropped: 112, saved_to: file })
  expect(numbersIn(readLines(file))).toEqual(upTo(112))
  await fill(queue, 3)
  expect(JSON.parse((await drop('--unsaved')).out)).toEqual({ dropped: 3 })
  expect(await listQueueCount(queue)).toBe(0)
})

const listQueueCount = async (name: string) => countMessagesAt(sqs, await queueUrl(sqs, name))

it('a copy of a FIFO queue’s dead letters says what SQS keeps back; `dlq drop --save` saves all', async () => {
  await fill('grow-tree-dead-letters.fifo', 25)
  const shown = await ops(['dlq', 'show', 'grow-tree', '--json'])
  expect(shown).toMatchObject({ code: 1, err: expect.stringContaining('message groups') as string })
  expect(JSON.parse(shown.out)).toMatchObject({ whole: false, not_shown: 15 })
  const file = join(newDirectory(), 'dropped.ndjson')
  await ops(['dlq', 'drop', 'grow-tree', '--save', file, '--yes'])
  expect(numbersIn(readLines(file))).toEqual(upTo(25))
})

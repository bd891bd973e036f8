import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { DescribeKeyCommand } from '@aws-sdk/client-kms'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeEach, expect, it, vi } from 'vitest'
import { kms } from '../../../shared/aws/kms.ts'
import { sendDeadLetter } from '../../../shared/aws/send-dead-letter.ts'
import { notifyTreeQueue } from '../../../shared/community/growth/queue.ts'
import { db } from '../../../shared/db/table.ts'
import { publishEvent } from '../../../shared/events/publish-event.ts'
import { OutOfTime, runInvocation } from '../../../shared/invocation.ts'
import { sendMail } from '../../../shared/sign-in/send-mail.ts'

const mail = { to: 'a@example.com', expires_at: Number.MAX_SAFE_INTEGER }

/** A call by every AWS client of the functions that a caller can see fail. */
const calls: [string, () => Promise<unknown>][] = [
  ['to the table', () => db.send(new GetCommand({ TableName: 'none', Key: { pk: 'a', sk: 'a' } }))],
  ['to KMS', () => kms.send(new DescribeKeyCommand({ KeyId: 'key' }))],
  ['that sends a mail', () => sendMail(mail, () => ({ subject: 'a', text: 'a' }))],
  ['that sends a dead letter', () => sendDeadLetter('a', {}, 60_000)],
  ['that wakes the worker', () => notifyTreeQueue(1)],
  ['that publishes an event', () => publishEvent('mail.requested', {})],
]

beforeEach(() => {
  for (const name of ['QUEUE_URL', 'DEAD_LETTER_QUEUE_URL', 'GROW_TREE_QUEUE_URL'])
    vi.stubEnv(name, 'http://queue.invalid/1/queue')
  vi.stubEnv('EVENT_BUS_NAME', 'bus')
})

it.each(calls)('a call %s is not even sent after the deadline of its invocation', async (_what, call) => {
  const context = { getRemainingTimeInMillis: () => 500 }
  const late = async () => {
    await wait(5)
    return call()
  }
  await expect(runInvocation(context, 500, late)).rejects.toThrow(OutOfTime)
})

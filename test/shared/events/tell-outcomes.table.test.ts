import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'
import { handler as adjustWallet } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as publishRates } from '../../../functions/intake/rates.published.ts'
import { handler as updateDeposit } from '../../../functions/intake/deposit.updated.ts'
import { handler as updateWithdrawal } from '../../../functions/intake/withdrawal.updated.ts'
import { depositId } from '../../../shared/deposits/deposit.ts'
import { type Intake, intake } from '../../../shared/events/intake.ts'
import { OutcomeDetail } from '../../../shared/events/outcome.ts'
import { contextWith, deliver, interceptQueues } from '../../support/deliver.ts'
import { addDepositor, deposit } from '../../support/deposits.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { type TestMessage, toSqsEvent } from '../../support/sqs-event.ts'
import { toldOutcomes } from '../../support/told-outcomes.ts'

/** An event as EventBridge puts it into a queue, with a new id by default. */
function message(handler: Intake, detail: unknown, id: string = randomUUID(), source = 'business') {
  const envelope = { version: '0', id, 'detail-type': handler.detailType, source, detail }
  return { id: randomUUID(), body: JSON.stringify(envelope) }
}

const aMinuteAgo = () => ({ firstReceivedAt: Date.now() - 60_000 })

/** Delivers messages in one batch, and returns the outcomes that were told, and the failed messages. */
async function tell(handler: Intake, ...messages: TestMessage[]) {
  interceptQueues()
  const before = toldOutcomes.length
  const { batchItemFailures } = await handler(toSqsEvent(messages), contextWith(30_000))
  const outcomes = toldOutcomes.slice(before)
  for (const outcome of outcomes) v.parse(v.strictObject(OutcomeDetail.entries), outcome)
  return { outcomes, failed: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier) }
}

const nothing = intake({
  detailType: 'test.happened',
  detail: v.object({}),
  key: () => randomUUID(),
  apply: async () => ({ outcome: 'applied' }),
})

const at = expect.any(Number) as number

it('the outcome of an event has ids, but nothing that its sender wrote', async () => {
  const userId = await addUser()
  const detail = adjustment(userId, { reason: 'a secret reason', amount: '123.456' })
  const id = randomUUID()
  const { outcomes, failed } = await tell(adjustWallet, message(adjustWallet, detail, id))
  expect(failed).toEqual([])
  expect(outcomes).toEqual([
    {
      event_id: id,
      detail_type: 'wallet.adjusted',
      business_key: detail.adjustment_id,
      outcome: 'applied',
      user_id: userId,
      subject: { id: `A${userId}-1` },
      at,
    },
  ])
  expect(JSON.stringify(outcomes)).not.toMatch(/secret|123\.456/)
})

describe('an event that is delivered again', () => {
  it('is told as before', async () => {
    const event = message(adjustWallet, adjustment(await addUser()))
    const told = await tell(adjustWallet, event)
    expect(await tell(adjustWallet, event)).toEqual(told)
  })

  it('under another id is told as without effect', async () => {
    const detail = adjustment(await addUser())
    const told = await tell(adjustWallet, message(adjustWallet, detail))
    const { outcomes } = await tell(adjustWallet, message(adjustWallet, detail))
    expect(outcomes).toMatchObject([{ outcome: 'no_effect', subject: told.outcomes[0]?.subject }])
  })

  it('is told as overtaken again if it was overtaken', async () => {
    const rates = (as_of: number) => ({ quote: 'USDT', as_of, rates: { BTC: '2' } })
    const now = Date.now()
    await tell(publishRates, message(publishRates, rates(now)))
    const late = message(publishRates, rates(now - 1))
    for (let times = 0; times < 2; times += 1)
      expect((await tell(publishRates, late)).outcomes).toMatchObject([{ outcome: 'overtaken' }])
  })

  describe('if it was refused,', () => {
    const refuseTwice = async () => {
      const detail = adjustment(await addUser(), { direction: 2, amount: '1000' })
      const refused = { ...message(adjustWallet, detail), sentAt: Date.now() - 60_000 }
      return [await tell(adjustWallet, refused), await tell(adjustWallet, refused)]
    }

    it('is told as refused again, with its reason', async () => {
      for (const { outcomes } of await refuseTwice())
        expect(outcomes).toMatchObject([{ outcome: 'refused', reason: 'insufficient_balance' }])
    })

    it('is told with the reason of its dead letter, even if it would be refused for another one by now', async () => {
      const userId = await addUser()
      const withdrawal = { user_id: userId, currency: 'USDT', amount: '4', at: Date.now() }
      const detail = { ...withdrawal, withdrawal_id: randomUUID() }
      const settled = message(updateWithdrawal, { ...detail, status: 'settled' })
      const uncovered = { ...settled, sentAt: Date.now() - 60_000 }
      const told = await tell(updateWithdrawal, uncovered)
      expect(told.outcomes).toMatchObject([{ outcome: 'refused', reason: 'insufficient_balance' }])
      expect(await deliver(updateWithdrawal, { ...detail, status: 'cancelled' })).toBe('done')
      expect(await tell(updateWithdrawal, uncovered)).toEqual(told)
    })

    it('has one dead letter', async () => {
      const queues = vi.spyOn(SQSClient.prototype as { send: (command: unknown) => unknown }, 'send')
      await refuseTwice()
      const sent = queues.mock.calls.filter(([command]) => command instanceof SendMessageCommand)
      expect(sent).toHaveLength(1)
    })
  })

  it('is told as settled without request again', async () => {
    const userId = await addUser()
    await deliver(adjustWallet, adjustment(userId, { amount: '10' }))
    const withdrawal = { user_id: userId, currency: 'USDT', amount: '4', at: Date.now(), status: 'settled' }
    const detail = { ...withdrawal, withdrawal_id: randomUUID() }
    const late = { ...message(updateWithdrawal, detail), ...aMinuteAgo() }
    for (let times = 0; times < 2; times += 1)
      expect((await tell(updateWithdrawal, late)).outcomes).toMatchObject([
        {
          outcome: 'settled_without_request',
          user_id: userId,
          subject: { id: detail.withdrawal_id, status: 'SETTLED' },
        },
      ])
  })
})

it('an event about a deposit is told by the deposit’s status, even repeated or late', async () => {
  const { userId, address } = await addDepositor()
  const detail = (status: string, confirmations: number) =>
    deposit(address, { txid: 'tell', status, confirmations, at: Date.now() })
  const pending = message(updateDeposit, detail('pending', 0))
  const confirmed = message(updateDeposit, detail('confirmed', 20))
  const late = message(updateDeposit, detail('confirming', 3))
  const told = async (one: TestMessage) => (await tell(updateDeposit, one)).outcomes
  const { currency_network: network, txid, output_index: outputIndex } = detail('pending', 0)
  const id = depositId({ network, txid, outputIndex })
  const applied = { outcome: 'applied', user_id: userId }
  expect(await told(pending)).toMatchObject([{ ...applied, subject: { id, status: 'PENDING' } }])
  expect(await told(confirmed)).toMatchObject([{ ...applied, subject: { id, status: 'CREDITED' } }])
  for (const one of [pending, confirmed])
    expect(await told(one)).toMatchObject([{ ...applied, subject: { id, status: 'CREDITED' } }])
  expect(await told(late)).toMatchObject([{ outcome: 'overtaken', subject: { id, status: 'CREDITED' } }])
  const repeated = message(updateDeposit, detail('confirmed', 20))
  expect(await told(repeated)).toMatchObject([{ outcome: 'no_effect', user_id: userId }])
  const failed = message(updateDeposit, detail('failed', 20))
  expect(await told(failed)).toMatchObject([{ outcome: 'refused', reason: 'contradicts_final_status' }])
})

it.each([
  ['of one member', adjustWallet, { adjustment_id: 'told-1', amount: 'none' }, 'told-1'],
  ['of two members', publishRates, { quote: 'usdt', as_of: 1_700_000_000_000 }, 'USDT#1700000000000'],
])('an event that is not valid is told with its key %s', async (_what, handler, detail, key) => {
  const { outcomes } = await tell(handler, message(handler, detail))
  expect(outcomes).toMatchObject([{ business_key: key, outcome: 'refused', reason: 'invalid_detail' }])
})

it.each([
  ['not valid', adjustWallet, { adjustment_id: 'a key', amount: 'none' }],
  ['partly missing', publishRates, { quote: 'usdt' }],
  ['of a list', updateDeposit, { currency_network: 'BTC', txid: ['ab'.repeat(32)], output_index: 0 }],
])('an event whose key is %s is told with its id as its key', async (_what, handler, detail) => {
  const id = randomUUID()
  const { outcomes } = await tell(handler, message(handler, detail, id))
  expect(outcomes).toMatchObject([{ business_key: id, outcome: 'refused', reason: 'invalid_detail' }])
})

it('an event that was refused because its instant lay ahead stays refused when the instant has come', async () => {
  const userId = await addUser()
  const event = message(adjustWallet, adjustment(userId, { at: Date.now() + 600_000 }))
  const ahead = { ...event, sentAt: Date.now() }
  const refused = [{ outcome: 'refused', reason: 'invalid_detail' }]
  expect((await tell(adjustWallet, ahead)).outcomes).toMatchObject(refused)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 })
  expect((await tell(adjustWallet, ahead)).outcomes).toMatchObject(refused)
})

it('an event that cannot be read is told as refused, with its id as its key', async () => {
  const id = randomUUID()
  const { outcomes } = await tell(adjustWallet, message(adjustWallet, { amount: 'none' }, id))
  expect(outcomes).toEqual([
    {
      event_id: id,
      detail_type: 'wallet.adjusted',
      business_key: id,
      outcome: 'refused',
      reason: 'invalid_detail',
      at,
    },
  ])
})

it('an event that the service itself has sent is not told', async () => {
  const { outcomes } = await tell(nothing, message(nothing, {}, randomUUID(), 'account-service'))
  expect(outcomes).toEqual([])
})

it('an event that waits for another one is told only when it is applied or refused', async () => {
  const detail = adjustment(await addUser(), { direction: 2, amount: '5' })
  const early = message(adjustWallet, detail)
  expect(await tell(adjustWallet, early)).toEqual({ outcomes: [], failed: [early.id] })
  await deliver(adjustWallet, adjustment(detail.user_id, { amount: '5' }))
  expect((await tell(adjustWallet, early)).outcomes).toMatchObject([{ outcome: 'applied' }])
})

describe('a bus that', () => {
  const spyOnBus = () =>
    vi.spyOn(EventBridgeClient.prototype as { send: (...args: never) => unknown }, 'send')
  const batch = async () => {
    const userId = await addUser()
    return Array.from({ length: 3 }, () => message(adjustWallet, adjustment(userId)))
  }

  it('takes the outcomes of a batch gets one call with all of them', async () => {
    const bus = spyOnBus()
    const messages = await batch()
    expect((await tell(adjustWallet, ...messages)).outcomes).toHaveLength(3)
    expect(bus).toHaveBeenCalledTimes(1)
  })

  it('refuses an outcome gets it again with the next delivery of its event, and with no other', async () => {
    const messages = await batch()
    const Entries = [{ EventId: '1' }, { ErrorCode: 'ThrottlingException' }, { EventId: '3' }]
    spyOnBus().mockResolvedValueOnce({ FailedEntryCount: 1, Entries })
    const { failed } = await tell(adjustWallet, ...messages)
    expect(failed).toHaveLength(1)
    const again = messages.filter(({ id }) => failed.includes(id))
    expect((await tell(adjustWallet, ...again)).outcomes).toMatchObject([{ outcome: 'applied' }])
  })

  describe('does not answer', () => {
    /** Delivers a batch while the bus does not answer, with no time to wait for it. Tells how long it had. */
    const tellNobody = async (messages: TestMessage[]) => {
      spyOnBus().mockImplementation(
        (_command: unknown, { abortSignal }: { abortSignal: AbortSignal }) =>
          new Promise((_resolve, reject) =>
            abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error)),
          ),
      )
      const timeout = AbortSignal.timeout.bind(AbortSignal)
      const timeouts = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(0))
      const told = await tell(adjustWallet, ...messages)
      const limits = timeouts.mock.calls.map(([milliseconds]) => milliseconds)
      vi.restoreAllMocks()
      return { ...told, limits }
    }

    it('delays a batch by two seconds at most', async () => {
      expect((await tellNobody(await batch())).limits).toEqual([2_000])
    })

    it('gets every event of the batch again', async () => {
      const messages = await batch()
      const { failed } = await tellNobody(messages)
      expect(failed.toSorted()).toEqual(messages.map(({ id }) => id).toSorted())
    })

    it('is told the outcomes with the next deliveries', async () => {
      const messages = await batch()
      await tellNobody(messages)
      const { outcomes } = await tell(adjustWallet, ...messages)
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied'])
    })
  })
})

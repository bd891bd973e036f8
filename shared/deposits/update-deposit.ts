import { setTimeout as wait } from 'node:timers/promises'
import { ConditionFailed, transact, type Write } from '../db/write.ts'
import type { Outcome } from '../events/event-record.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { postTransaction } from '../ledger/post-transaction.ts'
import { runExclusive } from '../keyed-mutex.ts'
import type { Big } from '../money.ts'
import {
  type Deposit,
  depositId,
  type DepositName,
  type DepositStatus,
  putDeposit,
  readDeposit,
} from './deposit.ts'
import { readAddress } from './deposit-address.ts'
import { countDeposit, countDeposits, readDepositHead } from './deposit-head.ts'

/** What the chain watcher says of a deposit. */
export interface DepositNews extends DepositName {
  address: string
  tag?: string | undefined
  currency: string
  amount: Big
  status: DepositStatus
  confirmations: number
}

const attempts = 40
const longestWaitMilliseconds = 150

/**
 * Brings a deposit forward to where an event says it is, and credits it when it is confirmed: once, in the transaction that
 * makes it `CREDITED`. Updates may arrive in any order and any number of times; the first final status stands.
 *
 * Throws Refused for an address that is nobody's or of another currency, and where the address, currency or amount of a
 * known deposit differ.
 */
export function updateDeposit(news: DepositNews): Promise<Outcome> {
  const id = depositId(news)
  return runExclusive([`deposit ${id}`], async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const known = await readDeposit(id, { consistent: true })
        return await (known === undefined ? addDeposit(id, news) : advanceDeposit(known, news))
      } catch (error) {
        // Somebody else moved this deposit, or counted another one of the same user.
        if (!(error instanceof ConditionFailed) || attempt === attempts) throw error
        await wait(Math.random() * Math.min(longestWaitMilliseconds, 5 * 2 ** attempt))
      }
    }
  })
}

async function addDeposit(id: string, news: DepositNews): Promise<Outcome> {
  const { network, address, tag, currency } = news
  const ours = await readAddress({ network, address, tag })
  const userId = ours?.user_id
  if (ours === undefined || userId === undefined) throw new RejectedEvent('unknown_address')
  if (ours.currency !== currency) throw new RejectedEvent('wrong_currency')
  return runExclusive([`deposits of ${userId}`], async () => {
    const head = await readDepositHead(userId, { consistent: true })
    const createdAt = Math.max(Date.now(), head.lastAt)
    const deposit: Deposit = {
      record: {
        id,
        currency,
        currency_network: network,
        amount: news.amount,
        address,
        tag: tag ?? null,
        txid: news.txid,
        confirmations: news.confirmations,
        required_confirmations: ours.required_confirmations,
        status: news.status,
        created_at: createdAt,
        credited_at: null,
      },
      userId,
      version: 1,
      ordinal: countDeposits(head) + 1,
      currencyOrdinal: countDeposits(head, currency) + 1,
    }
    return write(deposit, news, [countDeposit(head, currency, createdAt)])
  })
}

async function advanceDeposit(before: Deposit, news: DepositNews): Promise<Outcome> {
  const { record } = before
  const same =
    record.address === news.address &&
    record.tag === (news.tag ?? null) &&
    record.currency === news.currency &&
    record.amount.eq(news.amount)
  if (!same) {
    throw new RejectedEvent('conflicting_content', 'address, currency and amount of a deposit may not change')
  }
  const status = later(record.status, news.status)
  const confirmations = Math.max(record.confirmations, news.confirmations)
  if (status === record.status && confirmations === record.confirmations) return 'duplicate'
  const next = { ...before, version: before.version + 1, record: { ...record, status, confirmations } }
  return write(next, news, [])
}

const ranks: Record<DepositStatus, number> = { PENDING: 0, CONFIRMING: 1, CREDITED: 2, FAILED: 2 }

/** The later of two statuses; of two final ones the first. */
const later = (before: DepositStatus, next: DepositStatus): DepositStatus =>
  ranks[next] > ranks[before] ? next : before

/** Writes a deposit, and credits its amount where this version is the one that makes it `CREDITED`. */
async function write(deposit: Deposit, news: DepositName, others: Write[]): Promise<Outcome> {
  const { record, userId } = deposit
  if (record.status !== 'CREDITED' || record.credited_at !== null) {
    await transact([...others, ...putDeposit(deposit)])
    return 'applied'
  }
  return postTransaction({
    wallets: [
      {
        id: { userId, wallet: 'asset' },
        movements: [
          {
            kind: 'post',
            type: 'DEPOSIT',
            currency: record.currency,
            amount: record.amount,
            reference: `${news.network}:${news.txid}:${news.outputIndex}`,
          },
        ],
      },
    ],
    alongside: (bookedAt) => [
      ...others,
      ...putDeposit({
        ...deposit,
        record: { ...record, credited_at: Math.max(bookedAt, record.created_at) },
      }),
    ],
  })
}

import type { Item } from '../db/table.ts'
import { failureOf, tryTransact, type Write } from '../db/write.ts'
import { OptimisticLockError } from '../errors.ts'
import {
  bookingInstant,
  type EventRecord,
  findOutcome,
  type Outcome,
  putEventRecord,
  resolveDuplicate,
} from '../events/event-record.ts'
import { OutOfOrderEvent, RejectedEvent } from '../events/rejected-event.ts'
import { runExclusive } from '../keyed-mutex.ts'
import { retry } from '../retry.ts'
import { readUser } from '../users/user.ts'
import { applyMovements, type Movement, type NewBill, putBill } from './bill.ts'
import { closeChunks } from './page/index.ts'
import { putWallet, readWallet, toWallet, type Wallet, type WalletId, walletPath } from './wallet.ts'

export interface LedgerTransaction {
  /**
   * The event that causes the transaction; its business key is claimed in the same write. Without an event, a
   * condition of `alongside` must prevent repetition.
   */
  record?: EventRecord
  /** When it is booked, epoch milliseconds. Default: the booking instant of its event. */
  at?: number
  /** The movements of each wallet, in order. A wallet is named at most once, and all belong to one user. */
  wallets: { id: WalletId; movements: Movement[] }[]
  /** Further writes of the same DynamoDB transaction, built from the instant of posting. */
  alongside?: (bookedAt: number) => Write[]
}

/** Other processes changed the wallet first at every attempt. The event is delivered again later. */
export class ContentionError extends OptimisticLockError {
  override readonly name = 'ContentionError'

  constructor() {
    super('other processes moved the wallet first at every attempt')
  }
}

type Results = Map<LedgerTransaction, Outcome | Error>

/**
 * Posts a ledger transaction exactly once, all or nothing. One DynamoDB transaction writes the event's
 * business key, the writes of `alongside`, the bills, and the wallets under the condition that they have not
 * changed since they were read. Transactions of this process on the same wallet wait for each other, and
 * those that wait are written together.
 *
 * Throws RejectedEvent when a balance or hold would become negative or exceed 38 digits, or when the event's
 * key was used with other content; OutOfOrderEvent when the user is not registered; ContentionError when
 * every attempt lost its race; and the error of a condition of `alongside` that does not hold.
 */
export async function postTransaction(transaction: LedgerTransaction): Promise<Outcome> {
  const results = await join(transaction)
  const result = results.get(transaction)
  if (result === undefined || result instanceof Error)
    throw result ?? new Error('a transaction was not settled')
  return result
}

/**
 * Maximum number of ledger transactions in a batch. Each has one event key and one bill, so with the
 * wallet they are 81 of the at most 100 writes of a DynamoDB transaction.
 */
const maxBatchSize = 40

/** Batches that wait for their wallet, by wallet. Further transactions may join a batch until it starts. */
const openBatches = new Map<string, { transactions: LedgerTransaction[]; results: Promise<Results> }>()

function join(transaction: LedgerTransaction): Promise<Results> {
  const paths = transaction.wallets.map(({ id }) => walletPath(id))
  const [path] = paths
  // Only transactions with an event, on one wallet and without `alongside`, are batched: a batch locks one
  // wallet, and a failed condition of `alongside` would fail all of it.
  const batchable = paths.length === 1 && transaction.record && !transaction.alongside
  if (path === undefined || !batchable) return runExclusive(paths, () => commitBatch([transaction]))
  const open = openBatches.get(path)
  if (open !== undefined && open.transactions.length < maxBatchSize) {
    open.transactions.push(transaction)
    return open.results
  }
  const transactions = [transaction]
  const results = runExclusive([path], () => {
    if (openBatches.get(path)?.transactions === transactions) openBatches.delete(path)
    return commitBatch(transactions)
  })
  openBatches.set(path, { transactions, results })
  return results
}

/** Processes a batch: reads the wallets, decides, and writes, until every transaction has its own result. */
async function commitBatch(transactions: readonly LedgerTransaction[]): Promise<Results> {
  const results: Results = new Map()
  const unsettled = () => transactions.filter((transaction) => !results.has(transaction))
  try {
    let wallets = await readWallets(transactions)
    await checkUser(wallets)
    const attempt = async () => {
      while (unsettled().length > 0) {
        wallets = await Promise.all(wallets.map(closeChunks))
        const decision = decideBatch(wallets, unsettled(), instantOf(unsettled()))
        const conflict = await writeDecision(decision)
        if (conflict === undefined) await settleAll(decision, results)
        else {
          settleKnown(unsettled(), conflict.usedKeys, results)
          wallets = wallets.map((wallet) => conflict.moved.get(walletPath(wallet.id)) ?? wallet)
          if (conflict.moved.size > 0 && unsettled().length > 0) throw new ContentionError()
        }
      }
    }
    await retry(attempt, (error) => error instanceof ContentionError)
  } catch (error) {
    for (const transaction of unsettled()) results.set(transaction, error as Error)
  }
  return results
}

/** When a batch is booked: at the latest instant of its transactions. */
const instantOf = (transactions: readonly LedgerTransaction[]): number =>
  Math.max(...transactions.map(({ at, record }) => at ?? bookingInstant(record?.delivery ?? {})))

const readWallets = ([first]: readonly LedgerTransaction[]): Promise<Wallet[]> =>
  Promise.all((first?.wallets ?? []).map(({ id }) => readWallet(id, { consistent: true })))

/** A wallet implies a registered user; without one, check that the user exists. */
async function checkUser(wallets: readonly Wallet[]): Promise<void> {
  const absent = wallets.find(({ version }) => version === 0)
  if (absent === undefined) return
  const user = await readUser(absent.id.userId, { consistent: true })
  if (user === undefined) throw new OutOfOrderEvent('unknown_user')
}

/** The outcome of a batch, provided that its wallets do not change before it is written. */
export interface Decision {
  /** The wallets after the batch, with the version that they are to be written as. */
  wallets: Wallet[]
  /** The bills of each accepted transaction. */
  bills: Map<LedgerTransaction, NewBill[]>
  /** Instant of the batch and its bills, epoch milliseconds: never before an earlier one of the wallet. */
  bookedAt: number
  /** Outcome of each transaction in order: accepted (`applied`), repetition of an accepted one, rejected. */
  outcomes: Map<LedgerTransaction, Outcome | RejectedEvent>
}

/**
 * Decides transactions one after the other, each on the wallets as the accepted ones before it leave them. Of
 * transactions with the same event key, the first acceptable one is applied; later ones are duplicates, or
 * rejected for their other content.
 */
export function decideBatch(
  before: readonly Wallet[],
  transactions: readonly LedgerTransaction[],
  now: number,
): Decision {
  const bookedAt = Math.max(now, ...before.map(({ lastAt }) => lastAt))
  const accepted = new Map<string, EventRecord>()
  const bills = new Map<LedgerTransaction, NewBill[]>()
  let wallets = [...before]
  const decide = (transaction: LedgerTransaction): Outcome | RejectedEvent => {
    const { record } = transaction
    const earlier = record && accepted.get(eventKey(record))
    const known = record && earlier && outcomeOfUsedKey(record, { ...earlier })
    if (known) return known
    const moved: Wallet[] = []
    const made: NewBill[] = []
    for (const wallet of wallets) {
      const applied = applyMovements(wallet, movementsOf(transaction, wallet), bookedAt)
      if (applied.rejection !== undefined) return new RejectedEvent(applied.rejection)
      moved.push(applied.wallet)
      made.push(...applied.bills)
    }
    wallets = moved
    bills.set(transaction, made)
    if (record) accepted.set(eventKey(record), record)
    return 'applied'
  }
  const outcomes = new Map(transactions.map((transaction) => [transaction, decide(transaction)]))
  return {
    wallets: wallets.map((wallet) => ({ ...wallet, version: wallet.version + 1 })),
    bills,
    bookedAt,
    outcomes,
  }
}

const eventKey = ({ detailType, businessKey }: EventRecord): string => `${detailType}#${businessKey}`

const movementsOf = ({ wallets }: LedgerTransaction, wallet: Wallet): Movement[] =>
  wallets.find(({ id }) => walletPath(id) === walletPath(wallet.id))?.movements ?? []

/** Outcome of an event whose key was used before: see resolveDuplicate, whose RejectedEvent it returns. */
function outcomeOfUsedKey(
  record: EventRecord,
  stored: Item | undefined,
): Outcome | RejectedEvent | undefined {
  try {
    return resolveDuplicate(record, stored)
  } catch (error) {
    if (error instanceof RejectedEvent) return error
    throw error
  }
}

/** Why the decision of a batch could not be written. */
interface Conflict {
  /** Stored records of event keys that were used before. */
  usedKeys: Map<string, Item | undefined>
  /** Wallets that another process changed, as they are stored now. */
  moved: Map<string, Wallet>
}

/** Writes the accepted transactions. Throws the error of a condition of `alongside` that does not hold. */
async function writeDecision(decision: Decision): Promise<Conflict | undefined> {
  const { wallets, bills, bookedAt } = decision
  if (bills.size === 0) return undefined
  const groups = [...bills].map(([{ record, alongside }, made]) => ({
    record,
    writes: [...(alongside?.(bookedAt) ?? []), ...made.map(putBill)],
  }))
  const keyWrites = new Map(
    groups.flatMap(({ record }) =>
      record === undefined ? [] : [[putEventRecord(record, bookedAt), record] as const],
    ),
  )
  const walletWrites = new Map(wallets.map((wallet) => [putWallet(wallet), wallet.id]))
  const failures = await tryTransact([
    ...keyWrites.keys(),
    ...groups.flatMap(({ writes }) => writes),
    ...walletWrites.keys(),
  ])
  if (failures.length === 0) return undefined
  const conflict: Conflict = { usedKeys: new Map(), moved: new Map() }
  for (const { write, stored } of failures) {
    const record = keyWrites.get(write)
    const id = walletWrites.get(write)
    if (record !== undefined) conflict.usedKeys.set(eventKey(record), stored)
    if (id !== undefined) conflict.moved.set(walletPath(id), toWallet(id, stored))
  }
  if (conflict.usedKeys.size + conflict.moved.size === 0) throw failureOf(failures)
  return conflict
}

/** Settles transactions whose event key was used before: as duplicates, or as rejected. */
function settleKnown(
  transactions: readonly LedgerTransaction[],
  usedKeys: Conflict['usedKeys'],
  results: Results,
): void {
  for (const transaction of transactions) {
    const { record } = transaction
    if (record === undefined || !usedKeys.has(eventKey(record))) continue
    const outcome = outcomeOfUsedKey(record, usedKeys.get(eventKey(record)))
    if (outcome !== undefined) results.set(transaction, outcome)
  }
}

/** Settles every transaction of a decision, after the accepted ones have been written. */
async function settleAll({ outcomes }: Decision, results: Results): Promise<void> {
  await Promise.all(
    [...outcomes].map(async ([transaction, outcome]) => {
      const rejected = outcome instanceof RejectedEvent
      results.set(transaction, rejected ? await confirmRejection(transaction, outcome) : outcome)
    }),
  )
}

/** Rejects a transaction unless its event was applied before: that delivery may have used the money. */
async function confirmRejection(
  { record }: LedgerTransaction,
  rejection: RejectedEvent,
): Promise<Outcome | Error> {
  try {
    return (record && (await findOutcome(record))) ?? rejection
  } catch (error) {
    return error as Error
  }
}

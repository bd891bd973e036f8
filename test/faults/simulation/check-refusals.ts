import Big from 'big.js'
import type { Details, EventType, Wallet } from './events.ts'
import { keyOf } from './events.ts'
import { postingsOf, postingTypes } from './model-wallets.ts'
import { acceptedOf, contentOf, isBefore, meets, type SimulationRecord, unite } from './record.ts'
import type { SentEvent, Span } from './world.ts'

type Settled = SentEvent & { span: Span }

/** A balance change by an event, or the change that a refused event would have made. */
interface Move {
  event: string
  userId: number
  wallet: Wallet
  currency: string
  /** Negative for a debit. */
  amount: Big
  span: Span
  /**
   * Time span in which a cancellation or failure may have undone this change; undefined if there was none.
   */
  undone?: Span | undefined
  /** Whether the cancellation may have come too late, after the withdrawal was settled. */
  stands?: boolean | undefined
}

/** Lists the events that were wrongly refused, and those that were wrongly accepted. */
export function listWrongDecisions(record: SimulationRecord): string[] {
  const all = record.events.filter((event): event is Settled => event.span !== undefined)
  const settled = all.filter(({ type }) => type in keyOf)
  const moves = movesOf(record)
  // Leaves out mails that were refused as expired. A mail can expire while the mail service is down.
  const own = all.filter(
    ({ type, refusal }) =>
      !(type in keyOf) &&
      refusal !== undefined &&
      !(type.startsWith('mail.') && refusal.startsWith('expired')),
  )
  const refusedOwn = own.map(
    ({ type, refusal }) => `${type}, which the service sends, was refused: ${refusal ?? ''}`,
  )
  const wrong = settled.flatMap((event) => {
    const problem =
      event.refusal === undefined
        ? whyToRefuse(event, settled, moves)
        : whyToAccept(event, event.refusal.split(':')[0] ?? '', record, settled, moves)
    return problem === undefined ? [] : [`${event.type} ${nameOf(event)}: ${problem}`]
  })
  return [...refusedOwn, ...wrong]
}

const nameOf = ({ type, detail }: SentEvent): string => keyOf[type as EventType](detail as never)

const isSameKey = (one: SentEvent, other: SentEvent): boolean =>
  one.type === other.type && nameOf(one) === nameOf(other)

/** What identifies a withdrawal or deposit, and the values that must be equal in all its events. */
function termsOf({ type, detail }: SentEvent): { name: string; terms: string } | undefined {
  if (type === 'withdrawal.updated') {
    const { withdrawal_id, user_id, currency, amount } = detail as Details['withdrawal.updated']
    return { name: `w ${withdrawal_id}`, terms: contentOf([user_id, currency, amount]) }
  }
  if (type !== 'deposit.updated') return undefined
  const { currency_network, txid, output_index, ...rest } = detail as Details['deposit.updated']
  const { address, currency, amount } = rest
  return {
    name: `d ${currency_network} ${txid} ${output_index}`,
    terms: contentOf([address, currency, amount]),
  }
}

const isConflict = (one: SentEvent, other: SentEvent): boolean => {
  const [terms, others] = [termsOf(one), termsOf(other)]
  if (terms !== undefined && terms.name === others?.name && terms.terms !== others.terms) return true
  return isSameKey(one, other) && contentOf(one.detail) !== contentOf(other.detail)
}

const finalStatuses = ['confirmed', 'failed', 'settled', 'cancelled']

/** Whether two events give the same deposit or withdrawal different final statuses. */
function isContradiction(one: SentEvent, other: SentEvent): boolean {
  const [terms, others] = [termsOf(one), termsOf(other)]
  const [status, otherStatus] = [one, other].map(({ detail }) => (detail as { status?: string }).status ?? '')
  return (
    terms !== undefined &&
    terms.name === others?.name &&
    status !== otherStatus &&
    [status, otherStatus].every((each = '') => finalStatuses.includes(each))
  )
}

function whyToRefuse(event: Settled, settled: readonly Settled[], moves: readonly Move[]) {
  const accepted = settled.filter(({ refusal }) => refusal === undefined)
  if (accepted.some((other) => isConflict(event, other)))
    return 'two contents of one business key took effect'
  if (accepted.some((other) => isContradiction(event, other))) return 'two final statuses took effect'
  const userId = (event.detail as { user_id?: number }).user_id
  const isRegistered = settled.some(
    ({ type, detail, refusal, span }) =>
      type === 'user.registered' &&
      refusal === undefined &&
      (detail as Details['user.registered']).user_id === userId &&
      span.from.step <= event.span.to.step,
  )
  if (userId !== undefined && !isRegistered) return 'it took effect for a user who was not registered'
  const debit = moves.find((move) => move.event === `${event.type} ${nameOf(event)}` && move.amount.lt('0'))
  if (debit === undefined || debit.undone) return undefined
  const greatest = boundOf(moves, debit, ({ amount, span, undone }) => {
    const mayBeUndone = undone !== undefined && undone.from.step <= debit.span.to.step
    return amount.gt('0') ? span.from.step <= debit.span.to.step : isBefore(span, debit.span) && !mayBeUndone
  })
  return greatest.plus(debit.amount).lt('0')
    ? `it took more than there was, ${greatest.toFixed()}`
    : undefined
}

function whyToAccept(
  event: Settled,
  code: string,
  record: SimulationRecord,
  settled: readonly Settled[],
  moves: readonly Move[],
): string | undefined {
  const accepted = settled.filter(({ refusal }) => refusal === undefined)
  const same = accepted.find(
    (other) =>
      isSameKey(event, other) &&
      contentOf(event.detail) === contentOf(other.detail) &&
      isBefore(other.span, event.span),
  )
  if (same !== undefined) return `it was refused as ${code}, although it had taken effect`
  const waited = event.span.to.at - event.span.from.at
  if (waits.includes(code) && waited < record.patience)
    return `it was refused as ${code} after ${waited} milliseconds`
  return isJustified(event, code, record, accepted, moves) ? undefined : `it was refused as ${code}`
}

/** Reasons that a later event can make good, so that they are final only after a minute. */
const waits = ['insufficient_balance', 'unknown_user', 'unknown_referrer', 'unknown_address', 'email_taken']

function isJustified(
  event: Settled,
  code: string,
  record: SimulationRecord,
  accepted: readonly Settled[],
  moves: readonly Move[],
): boolean {
  switch (code) {
    case 'conflicting_content':
      return accepted.some((other) => isConflict(event, other) && other.span.from.step <= event.span.to.step)
    case 'contradicts_final_status':
      return accepted.some(
        (other) => isContradiction(event, other) && other.span.from.step <= event.span.to.step,
      )
    case 'insufficient_balance':
      return !wasCovered(event, record, moves)
    case 'unknown_user':
      return !wasRegistered(event, record, accepted, 'user_id')
    case 'unknown_referrer':
      return !wasRegistered(event, record, accepted, 'referrer_id')
    case 'email_taken': {
      const { email, user_id: userId } = event.detail as { email: string; user_id: number }
      return accepted.some(({ detail, type, span }) => {
        const other = detail as { email?: string; user_id: number }
        const sets = type === 'user.registered' || type === 'user.updated'
        return (
          sets && other.email === email && other.user_id !== userId && span.from.step <= event.span.to.step
        )
      })
    }
    case 'unknown_address': {
      const { address } = event.detail as Details['deposit.updated']
      return !record.addresses.some(
        ({ answer, span }) => answer.address === address && meets(event.span, span, record),
      )
    }
    default:
      return false
  }
}

function wasRegistered(
  event: Settled,
  record: SimulationRecord,
  accepted: readonly Settled[],
  field: 'user_id' | 'referrer_id',
) {
  const userId = (event.detail as Record<string, unknown>)[field]
  return accepted.some(
    ({ type, detail, span }) =>
      type === 'user.registered' &&
      (detail as Details['user.registered']).user_id === userId &&
      meets(event.span, span, record),
  )
}

/** Whether an event should not have been refused, because the balance was certainly high enough in time. */
function wasCovered(event: Settled, record: SimulationRecord, moves: readonly Move[]): boolean {
  const need = needOf(event)
  if (need === undefined) return true
  const least = boundOf(moves, need, ({ amount, span, undone, stands }) => {
    const isUndone = undone !== undefined && !stands && isBefore(undone, need.span)
    return amount.gt('0')
      ? meets(need.span, span, record) && !undone
      : span.from.step <= need.span.to.step && !isUndone
  })
  return least.plus(need.amount).gte('0')
}

const boundOf = (moves: readonly Move[], of: Move, counts: (move: Move) => boolean): Big =>
  moves
    .filter(
      (move) =>
        move.event !== of.event &&
        move.userId === of.userId &&
        move.wallet === of.wallet &&
        move.currency === of.currency &&
        counts(move),
    )
    .reduce((sum, { amount }) => sum.plus(amount), new Big('0'))

/** What an event takes from a balance; undefined if it takes nothing. */
function needOf(event: Settled): Move | undefined {
  if (event.type !== 'withdrawal.updated') return postedBy(event).find(({ amount }) => amount.lt('0'))
  const { user_id: userId, currency, amount, status } = event.detail as Details['withdrawal.updated']
  const move = { event: `${event.type} ${nameOf(event)}`, userId, wallet: 'asset', currency } as const
  return status === 'cancelled' ? undefined : { ...move, amount: new Big(amount).neg(), span: event.span }
}

const postedBy = (event: Omit<Settled, 'id' | 'source' | 'refusal'>): Move[] =>
  postingsOf(event).map(({ userId, wallet, currency, amount, direction }) => ({
    event: `${event.type} ${keyOf[event.type as EventType](event.detail as never)}`,
    ...{ userId, wallet, currency, span: event.span },
    amount: direction === 1 ? amount : amount.neg(),
  }))

/** All changes of balances, each with the earliest and latest time at which it may have happened. */
const movesOf = (record: SimulationRecord): Move[] => [
  ...acceptedOf(record, ...postingTypes).flatMap(postedBy),
  ...depositMoves(record),
  ...withdrawalMoves(record),
]

/** A confirmed deposit is credited, unless it has failed before. */
function depositMoves(record: SimulationRecord): Move[] {
  const events = acceptedOf(record, 'deposit.updated')
  const named = ({ detail }: (typeof events)[number]) => `${detail.currency_network} ${detail.txid}`
  return events
    .filter(({ detail }) => detail.status === 'confirmed')
    .flatMap((event): Move[] => {
      const { detail, span } = event
      const { currency, amount, address, txid } = detail
      const userId = record.addresses.find(({ answer }) => answer.address === address)?.request.userId
      if (userId === undefined) return []
      const failed = events.find((other) => other.detail.status === 'failed' && named(other) === named(event))
      const move = { event: `deposit of ${txid}`, userId, wallet: 'asset' as const, currency, span }
      return [{ ...move, amount: new Big(amount), undone: failed?.span }]
    })
}

/**
 * A withdrawal takes its amount once: at its request, or at its settlement if no request came before. A
 * cancellation gives the amount back, unless the settlement came first.
 */
function withdrawalMoves(record: SimulationRecord): Move[] {
  const events = acceptedOf(record, 'withdrawal.updated')
  return [...Map.groupBy(events, ({ detail }) => detail.withdrawal_id)].flatMap(([id, all]): Move[] => {
    const [first, ...others] = all.filter(({ detail }) => detail.status !== 'cancelled')
    if (first === undefined) return []
    const { user_id: userId, currency, amount, status } = first.detail
    const span = others.reduce((union, other) => unite(union, other.span), first.span)
    const spanOf = (final: string) => all.find(({ detail }) => detail.status === final)?.span
    const [settled, cancelled] = [spanOf('settled'), spanOf('cancelled')]
    const isCancelled = cancelled !== undefined && !(settled && isBefore(settled, cancelled))
    const move = {
      event: `withdrawal.updated ${id} ${status}`,
      amount: new Big(amount).neg(),
      stands: cancelled && settled && !isBefore(cancelled, settled),
      undone: isCancelled ? cancelled : undefined,
    }
    return [{ ...move, userId, wallet: 'asset', currency, span }]
  })
}

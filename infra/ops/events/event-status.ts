import {
  addressDigest,
  assignmentKey,
  type NetworkAddress,
  readAddress,
} from '../../../shared/deposits/address.ts'
import { depositId, depositKey, type DepositName, readDeposit } from '../../../shared/deposits/deposit.ts'
import { readEvent } from '../../../shared/events/event-record.ts'
import { events } from '../../events.ts'
import { OperationError } from '../errors.ts'

/**
 * Tells what became of the event with a detail-type and business key, when and why. Throws an OperationError
 * for an unknown detail-type, and for an event of which nothing is recorded.
 */
export async function describeEvent(detailType: string, businessKey: string) {
  if (!events.some((event) => event.detailType === detailType))
    throw new OperationError(`there is no detail-type ${detailType}`)
  const { key = businessKey, readEffect } = findKey(detailType, businessKey) ?? {}
  const [known, unrecorded] = await Promise.all([readEvent({ detailType, businessKey: key }), readEffect?.()])
  const refusals = (known?.refusals ?? []).map(([eventId, { code, explanation, at, until }]) => ({
    event_id: eventId,
    reason: code,
    explanation,
    at,
    dead_letter: until === undefined ? 'sent' : 'being sent',
  }))
  const effect = known?.effect
  if (effect?.digest === undefined && unrecorded === undefined && refusals.length === 0)
    throw new OperationError(
      `nothing is recorded of ${detailType} ${businessKey}: it waits in its queue, or never came`,
    )
  return {
    detail_type: detailType,
    business_key: businessKey,
    ...(effect?.digest === undefined
      ? { outcome: unrecorded === undefined ? 'refused' : 'applied' }
      : {
          outcome: effect.outcome ?? 'applied',
          event_id: effect.event_id ?? null,
          at: effect.applied_at ?? null,
          subject: effect.subject ?? null,
        }),
    ...unrecorded,
    refusals,
  }
}

/** The key of an event as the service writes it, and what reads an effect that the key's record lacks. */
interface FoundKey {
  key: string
  readEffect?: () => Promise<object | undefined>
}

/** Finds the key of an event by a key in the sender's spelling; undefined where there is but one spelling. */
function findKey(detailType: string, businessKey: string): FoundKey | undefined {
  if (detailType === 'rates.published') return { key: businessKey.toUpperCase() }
  if (detailType !== 'deposit.updated' && detailType !== 'address.assigned') return undefined
  const [, code, name, last] = /^([^:]+):(.+):([^:]*)$/.exec(businessKey) ?? []
  if (code === undefined || name === undefined || last === undefined) return undefined
  const network = code.toUpperCase()
  if (detailType === 'address.assigned')
    return assignmentOf({ network, address: name, tag: last === '' ? undefined : last })
  return /^\d+$/.test(last) ? depositNamed({ network, txid: name, outputIndex: Number(last) }) : undefined
}

/** The events of a deposit have no records of their own: what became of them is the deposit. */
const depositNamed = (name: DepositName): FoundKey => ({
  key: depositKey(name),
  async readEffect() {
    const deposit = await readDeposit(depositId(name))
    if (deposit === undefined) return undefined
    const { id, status, created_at, credited_at } = deposit
    return { at: credited_at ?? created_at, subject: { id, status } }
  },
})

/** Nor have assignments of an address: what became of them is whose the address is. */
const assignmentOf = (address: NetworkAddress): FoundKey => ({
  key: assignmentKey(address),
  async readEffect() {
    const userId = (await readAddress(addressDigest(address)))?.user_id
    return userId === undefined ? undefined : { user_id: userId }
  },
})

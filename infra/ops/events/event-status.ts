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
  const named = detailType === 'deposit.updated' ? nameIn(businessKey) : undefined
  const [known, deposit] = await Promise.all([
    readEvent({ detailType, businessKey: named === undefined ? businessKey : depositKey(named) }),
    named && describeDeposit(named),
  ])
  const refusals = (known?.refusals ?? []).map(([eventId, { code, explanation, at, until }]) => ({
    event_id: eventId,
    reason: code,
    explanation,
    at,
    dead_letter: until === undefined ? 'sent' : 'being sent',
  }))
  const effect = known?.effect
  if (effect?.digest === undefined && deposit === undefined && refusals.length === 0)
    throw new OperationError(
      `nothing is recorded of ${detailType} ${businessKey}: it waits in its queue, or never came`,
    )
  return {
    detail_type: detailType,
    business_key: businessKey,
    ...(effect?.digest === undefined
      ? { outcome: deposit === undefined ? 'refused' : 'applied' }
      : {
          outcome: effect.outcome ?? 'applied',
          event_id: effect.event_id ?? null,
          at: effect.applied_at ?? null,
          subject: effect.subject ?? null,
        }),
    ...deposit,
    refusals,
  }
}

/** The deposit that a key names, in any spelling; undefined if the text is no key. */
function nameIn(businessKey: string): DepositName | undefined {
  const [, network, txid, outputIndex] = /^([^:]+):(.+):(\d+)$/.exec(businessKey) ?? []
  if (network === undefined || txid === undefined) return undefined
  return { network: network.toUpperCase(), txid, outputIndex: Number(outputIndex) }
}

/** The events of a deposit have no records of their own: what became of them is the deposit. */
async function describeDeposit(name: DepositName) {
  const deposit = await readDeposit(depositId(name))
  if (deposit === undefined) return undefined
  const { id, status, created_at, credited_at } = deposit
  return { at: credited_at ?? created_at, subject: { id, status } }
}

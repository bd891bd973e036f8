import { itemType } from './item-type.ts'
import { type Change, putNew, type Write } from './write.ts'

const evidence = itemType({
  pk: 'MEND#{startedAt}',
  sk: '{pk} {sk}',
  holds: 'what a mend of the ledger found under a key, and what it left there',
  found: 'by the instant at which the mend started; all of it in order of the keys',
})

/** The write that keeps a change of a mend, for the transaction that makes the change. Never deleted. */
export const putEvidence = (startedAt: number, { before, after }: Change): Write => {
  const { pk, sk } = before ?? after ?? {}
  return putNew({ ...evidence.key({ startedAt, pk: String(pk), sk: String(sk) }), before, after })
}

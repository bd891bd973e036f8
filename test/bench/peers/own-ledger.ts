// Pages of bills and postings by this service's own ledger. The environment names the table.
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { readBillsPage } from '../../../shared/ledger/find-bills.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { adjustment } from '../../support/ledger.ts'
import { loadBills } from '../growth/bills.ts'
import { measureInRounds } from '../growth/rounds.ts'
import type { LedgerAnswer, LedgerTask } from './ledgers.ts'

/** On a busy machine, a million bills in DynamoDB Local would take half an hour. */
const maxLoadMilliseconds = 300_000

export const handler = async ({ load, userId, page, countTrips }: LedgerTask): Promise<LedgerAnswer> => {
  if (load !== undefined) return { bills: await loadBills(userId, load, Date.now() + maxLoadMilliseconds) }
  const work = async () => {
    if (page !== undefined) return readBillsPage(page, { userId, wallet: 'asset' })
    const outcome = await applyEvent(walletAdjusted, adjustment(userId))
    if (outcome !== 'applied') throw new Error(`the posting is ${outcome}`)
    return {}
  }
  if (countTrips) {
    const { result, rounds } = await measureInRounds(work)
    return { ...result, trips: rounds }
  }
  const startedAt = performance.now()
  await work()
  return { milliseconds: performance.now() - startedAt }
}

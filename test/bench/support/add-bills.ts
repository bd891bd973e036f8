import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { adjustment } from '../../support/ledger.ts'

/** Posts this many bills into the asset wallet of a user. */
export async function addBills(userId: number, count: number): Promise<void> {
  for (let bill = 0; bill < count; bill += 1) await applyEvent(walletAdjusted, adjustment(userId))
}

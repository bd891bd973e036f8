import { randomBytes, randomInt } from 'node:crypto'
import { handler as addressesProvisioned } from '../../functions/intake/addresses.provisioned.ts'
import { handler as depositUpdated } from '../../functions/intake/deposit.updated.ts'
import { depositId } from '../../shared/deposits/deposit.ts'
import { claimAddress } from '../../shared/deposits/user-address.ts'
import { applyEvent } from './apply-event.ts'
import { deposit, newPool, provision } from './deposits.ts'
import { addUser } from './ledger.ts'

/** A user id that is not registered. */
export const nobody = 2 ** 52 + randomInt(2 ** 40)

/** Returns a code, ticket, secret or id that does not exist. */
export const unknownText = () => randomBytes(32).toString('base64url')

/** Adds a deposit of a new user, and resolves with its id. */
export async function depositOfAnother(): Promise<string> {
  const pool = newPool()
  await applyEvent(addressesProvisioned, provision(pool, 1))
  const detail = deposit(await claimAddress(await addUser(), pool))
  await applyEvent(depositUpdated, detail)
  return depositId({ network: pool.network, txid: detail.txid, outputIndex: 0 })
}

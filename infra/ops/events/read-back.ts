import { readAddresses } from '../../../shared/deposits/deposit-address.ts'
import { readClient } from '../../../shared/oauth/client.ts'
import { readRates } from '../../../shared/rates/rates.ts'
import { readSignInRecord } from '../../../shared/sign-in/record.ts'
import { updateStamp } from '../../../shared/registration/update.ts'
import { readUser } from '../../../shared/users/user.ts'
import type { UserChanges } from '../../../shared/users/identity.ts'
import { OperationError } from '../errors.ts'
import { formatInstant } from '../terminal.ts'

/** Whether a user is registered and can be signed in. */
export async function isUserThere(userId: number): Promise<boolean> {
  return (
    (await readUser(userId, { consistent: true })) !== undefined &&
    (await readSignInRecord(userId)) !== undefined
  )
}

/**
 * Whether an update of one field of a user stands, and the sessions that it ends are ended. Throws an
 * OperationError if a later update of the field stands.
 */
export async function isUserUpdated(
  { userId, at, updateId }: { userId: number; at: number; updateId: string },
  field: keyof UserChanges,
): Promise<boolean> {
  const user = await readUser(userId, { consistent: true })
  const stamp = updateStamp(at, updateId)
  const standing = user?.stamps[field] ?? ''
  refuseLater(Number(standing.split('#', 1)[0]), standing > stamp, `${field} of user ${userId}`)
  return standing === stamp && user?.revocationDue !== stamp
}

/** Whether a registration of a client stands. Throws an OperationError if a later one does. */
export async function isClientRegistered(clientId: string, at: number): Promise<boolean> {
  const { updatedAt = 0 } = (await readClient(clientId, { consistent: true })) ?? {}
  refuseLater(updatedAt, updatedAt > at, `the client ${clientId}`)
  return updatedAt === at
}

/** Whether rates of an instant stand. Throws an OperationError if later ones do. */
export async function areRatesPublished(at: number): Promise<boolean> {
  const asOf = (await readRates()).asOf ?? 0
  refuseLater(asOf, asOf > at, 'the rates')
  return asOf === at
}

/** Whether all addresses of a batch are in their pool; they are added in several transactions. */
export async function areAddressesThere(
  network: string,
  batchId: string,
  addresses: readonly { address: string; tag?: string }[],
): Promise<boolean> {
  const found = await readAddresses(addresses.map((address) => ({ network, ...address })))
  return found.length === addresses.length && found.every((item) => item.batch_id === batchId)
}

function refuseLater(standing: number, isLater: boolean, what: string): void {
  if (isLater)
    throw new OperationError(
      `nothing has changed: an update of ${what} at ${formatInstant(standing)} is later`,
    )
}

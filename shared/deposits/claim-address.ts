import { ConditionFailed, transact } from '../db/write.ts'
import { emitMetric } from '../emit-metric.ts'
import { Failure, invalidParameter } from '../errors.ts'
import { log } from '../log.ts'
import { countFree, findFree, type Pool, poolExists, takeFree } from './address-pool.ts'
import { settings } from '../settings.ts'
import { assignAddress, readAddressByDigest } from './deposit-address.ts'
import { putUserAddress, readUserAddress, type UserAddress } from './user-address.ts'

/** Each attempt that fails means that another user was served; the pool's last address can be lost more than once. */
const attempts = 20

/**
 * Gives a user an address of their own out of the pool, in one conditional step. However many ask at once, a user gets one
 * address and an address one user.
 *
 * Fails with `invalid_parameter` for a currency or network that the service does not have, and with `unavailable` when
 * the pool is empty.
 */
export async function claimAddress(userId: number, pool: Pool): Promise<UserAddress> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const assigned = await readUserAddress(userId, pool, { consistent: true })
    if (assigned !== undefined) return assigned
    const digest = await findFree(pool)
    if (digest === undefined) return failEmpty(userId, pool)
    const claimed = await tryClaim(userId, pool, digest)
    if (claimed === undefined) continue
    await watchLevel(pool)
    return claimed
  }
  throw new Failure('unavailable', { retryAfterSeconds: 1 })
}

/** Undefined where somebody else took the address, or another request of the same user was served. */
async function tryClaim(userId: number, pool: Pool, digest: string): Promise<UserAddress | undefined> {
  const item = await readAddressByDigest(digest)
  if (item === undefined) throw new Error('the pool holds an address that does not exist')
  const mine: UserAddress = {
    currency: item.currency,
    currency_network: item.currency_network,
    address: item.address,
    tag: item.tag ?? null,
    required_confirmations: item.required_confirmations,
    created_at: Date.now(),
  }
  try {
    await transact([takeFree(pool, digest), assignAddress(digest, userId), putUserAddress(userId, mine)])
    return mine
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined
    throw error
  }
}

/** Has somebody told while there is still time to provision more. */
async function watchLevel(pool: Pool): Promise<void> {
  const mark = settings().addressPoolLowMark
  const left = await countFree(pool, mark)
  if (left >= mark) return
  log.warn('address pool is low', { currency: pool.currency, currency_network: pool.network, left })
  emitMetric('AddressPoolLow', 1)
}

async function failEmpty(userId: number, pool: Pool): Promise<UserAddress> {
  // The last address may have gone to another request of this very user.
  const assigned = await readUserAddress(userId, pool, { consistent: true })
  if (assigned !== undefined) return assigned
  if (!(await poolExists(pool))) throw invalidParameter('currencyNetWork', 'is not offered for this currency')
  log.error('address pool is empty', { currency: pool.currency, currency_network: pool.network })
  emitMetric('AddressPoolEmpty', 1)
  throw new Failure('unavailable', { retryAfterSeconds: 60 })
}

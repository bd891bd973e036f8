import { claimAddress } from '../../../shared/deposits/user-address.ts'

interface Claim {
  userId: number
  pools: { currency: string; network: string }[]
}

/**
 * Claims a deposit address for a user from each pool. Runs in a worker with the environment of the address
 * function.
 */
export async function handler({ userId, pools }: Claim): Promise<string[]> {
  const claimed = await Promise.all(pools.map((pool) => claimAddress(userId, pool)))
  return claimed.map(({ address }) => address)
}

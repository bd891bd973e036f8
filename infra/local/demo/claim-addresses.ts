import { claimAddress } from '../../../shared/deposits/user-address.ts'

interface Claim {
  userId: number
  pools: { currency: string; network: string }[]
}

/** Claims a deposit address per pool for a user, in a worker with the address function's environment. */
export async function handler({ userId, pools }: Claim): Promise<string[]> {
  const claimed = await Promise.all(pools.map((pool) => claimAddress(userId, pool)))
  return claimed.map(({ address }) => address)
}

import { readTogether } from '../../../shared/db/read.ts'
import { claimAddress } from '../../../shared/deposits/user-address.ts'

interface Claim {
  userId: number
  pools: { currency: string; network: string }[]
}

/** Claims a deposit address per pool for a user, in a worker with the address function's environment. */
export async function handler({ userId, pools }: Claim): Promise<string[]> {
  // As the endpoint does, whose role may read items by BatchGetItem only.
  const claimed = await readTogether(() => Promise.all(pools.map((pool) => claimAddress(userId, pool))))
  return claimed.map(({ address }) => address)
}

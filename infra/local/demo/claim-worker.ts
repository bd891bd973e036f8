// Claims deposit addresses as the address function does: with its code, its environment and its rights. Going through the
// API would leave a mail and a session of Alice's behind, and whoever reads her outbox would find the wrong code first.
import { parentPort, workerData } from 'node:worker_threads'
import { claimAddress } from '../../../shared/deposits/claim-address.ts'

const { userId, pools } = workerData as { userId: number; pools: { currency: string; network: string }[] }
const claimed = await Promise.all(pools.map((pool) => claimAddress(userId, pool)))
parentPort?.postMessage(claimed.map(({ address }) => address))

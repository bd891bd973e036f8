import { Worker } from 'node:worker_threads'

/** A kind of deposit address. */
export interface AddressPool {
  currency: string
  network: string
}

/** A user's addresses, one for each pool and in their order, in the environment of the function that hands them out. */
export function claimAddresses(
  environment: Record<string, string>,
  userId: number,
  pools: AddressPool[],
): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('claim-worker.ts', import.meta.url), {
      env: environment,
      execArgv: [],
      workerData: { userId, pools },
    })
    worker.once('message', (addresses: string[]) => resolve(addresses))
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the claim of demo addresses ended without an answer')))
  })
}

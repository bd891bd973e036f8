import { createHash } from 'node:crypto'
import type { CommandContext } from './command.ts'
import { UsageError } from './errors.ts'
import { describeResult, isDone, sendLines } from './events/send-lines.ts'
import { readLines } from './read-lines.ts'

/** Options of the command `addresses import`. */
export interface ImportOptions {
  currency: string
  network: string
  confirmations: number
}

interface PoolAddress {
  address: string
  tag?: string
}

/** Number of addresses in one event. */
const batchSize = 500

/** Sends the deposit addresses of a file, waits until they are in their pool, and says what was rejected. */
export async function importAddresses(
  context: CommandContext,
  file: string,
  options: ImportOptions,
): Promise<boolean> {
  const { terminal, show } = context
  const { currency, network, confirmations } = options
  let read = 0
  async function* toEvents() {
    for await (const addresses of inBatches(readLines(file, terminal))) {
      read += addresses.length
      const detail = {
        batch_id: batchIdOf(options, addresses),
        currency,
        currency_network: network,
        required_confirmations: confirmations,
        addresses,
      }
      yield JSON.stringify({ 'detail-type': 'addresses.provisioned', detail })
    }
  }
  const result = await sendLines(context, toEvents())
  if (isDone(result))
    show({ imported: read }, () => `${read} addresses are in the pool of ${currency} on ${network}.`)
  else show(result, () => describeResult(result))
  return isDone(result)
}

async function* inBatches(lines: AsyncIterable<string>): AsyncGenerator<PoolAddress[]> {
  let batch: PoolAddress[] = []
  let number = 0
  for await (const text of lines) {
    number += 1
    if (text.trim() === '') continue
    const [address = '', tag] = text.split(',').map((part) => part.trim())
    if (address === '') throw new UsageError(`line ${number} has no address`)
    batch.push({ address, ...(tag === undefined || tag === '' ? {} : { tag }) })
    if (batch.length === batchSize) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** Makes the id of a batch as a digest of its content, so importing a file again adds nothing twice. */
function batchIdOf({ currency, network, confirmations }: ImportOptions, addresses: PoolAddress[]): string {
  const content = JSON.stringify([currency, network, confirmations, addresses])
  return `import-${createHash('sha256').update(content).digest('base64url')}`
}

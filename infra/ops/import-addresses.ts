import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import type { CommandContext } from './command.ts'
import { UsageError } from './errors.ts'
import { readLines } from './events/input.ts'
import { areAddressesThere } from './events/read-back.ts'
import { sendAndConfirm } from './events/send-and-confirm.ts'

/** Options of the command `addresses import`. */
export interface ImportOptions {
  currency: string
  network: string
  confirmations: number
  batch: number
}

interface PoolAddress {
  address: string
  tag?: string
}

/**
 * Sends the deposit addresses of a file in batches. Each batch waits until the previous one has taken effect.
 */
export async function importAddresses(
  { target, terminal, show }: CommandContext,
  file: string,
  options: ImportOptions,
): Promise<boolean> {
  if (file !== '-' && !existsSync(file)) throw new UsageError(`there is no file ${file}`)
  const input = file === '-' ? terminal.readInput() : createReadStream(file)
  let imported = 0
  for await (const addresses of inBatches(input, options.batch)) {
    const batchId = batchIdOf(options, addresses)
    await sendAndConfirm(target, {
      detailType: 'addresses.provisioned',
      businessKey: batchId,
      detail: {
        batch_id: batchId,
        currency: options.currency,
        currency_network: options.network,
        required_confirmations: options.confirmations,
        addresses,
      },
      isEffective: () => areAddressesThere(options.network.toUpperCase(), batchId, addresses),
    })
    imported += addresses.length
    terminal.err(`${imported} addresses`)
  }
  show(
    { imported },
    () => `${imported} addresses are in the pool of ${options.currency} on ${options.network}.`,
  )
  return true
}

async function* inBatches(input: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<PoolAddress[]> {
  let batch: PoolAddress[] = []
  for await (const { text, number } of readLines(input)) {
    if (text.trim() === '') continue
    const [address = '', tag] = text.split(',').map((part) => part.trim())
    if (address === '') throw new UsageError(`line ${number} has no address`)
    batch.push({ address, ...(tag === undefined || tag === '' ? {} : { tag }) })
    if (batch.length === size) {
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

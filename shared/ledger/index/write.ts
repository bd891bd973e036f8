import { keyText } from '../../db/read.ts'
import { type Write, writeItem } from '../../db/write.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import type { Wallet, WalletId } from '../wallet.ts'
import {
  blockKey,
  type BlockPart,
  type Chunk,
  chunkItem,
  chunkSize,
  chunksOf,
  countInChunks,
  currenciesOf,
  partsOf,
} from './format.ts'

/**
 * Moves a wallet's oldest 64 bill marks into a chunk, if the wallet has more than 64. Returns the wallet
 * without these marks; the caller must write that wallet.
 */
export async function closeChunk(wallet: Wallet): Promise<Wallet> {
  const taken = takeChunk(wallet)
  if (taken === undefined) return wallet
  await writeChunks(wallet, [taken.chunk])
  return taken.rest
}

const concurrency = 32

/**
 * First adds the bills of the given chunks to the blocks of the bill index; then writes the chunks, in order.
 * So every bill of a stored chunk is in its blocks, even after a crash. A transaction would cost double.
 */
export async function writeChunks(wallet: Wallet, chunks: readonly Chunk[]): Promise<void> {
  const currencies = currenciesOf(wallet)
  const parts = chunks.flatMap((chunk) => partsOf(chunk, currencies))
  const blocks = Map.groupBy(parts, ({ filter, block }) => keyText(blockKey(wallet.id, filter, block)))
  await forEachConcurrently(blocks.values(), concurrency, (some) => writeItem(addParts(wallet.id, some)))
  for (const chunk of chunks) await writeItem({ Put: { Item: chunkItem(wallet.id, chunk) } })
}

/** The write that adds bills to a block of the bill index. All `parts` must belong to this block. */
function addParts(id: WalletId, parts: readonly BlockPart[]): Write {
  const [first] = parts
  if (first === undefined) throw new Error('a block has no parts')
  return {
    Update: {
      Key: blockKey(id, first.filter, first.block),
      UpdateExpression: `SET ${parts.map((_, i) => `#c${i} = :c${i}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(parts.map(({ chunk }, i) => [`#c${i}`, String(chunk)])),
      ExpressionAttributeValues: Object.fromEntries(
        parts.map(({ places }, i) => [`:c${i}`, Uint8Array.from(places)]),
      ),
    },
  }
}

/** Makes a chunk of the oldest 64 bill marks of a wallet; undefined if the wallet has at most 64. */
export function takeChunk(wallet: Wallet): { chunk: Chunk; rest: Wallet } | undefined {
  const { tail } = wallet
  const next = tail[chunkSize]
  if (next === undefined) return undefined
  return {
    chunk: {
      number: chunksOf(wallet),
      marks: tail.slice(0, chunkSize),
      before: countInChunks(wallet),
      until: next.quarter,
    },
    rest: { ...wallet, tail: tail.slice(chunkSize) },
  }
}

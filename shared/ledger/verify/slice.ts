import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { queryItems } from '../../db/read.ts'
import { indexName } from '../../db/partitions.ts'
import { Integer } from '../../db/table.ts'
import { writeItem } from '../../db/write.ts'
import { registerPartition, registerShards, type WalletId, WalletName } from '../wallet.ts'

const SliceItem = v.object({
  shard: Integer,
  /** When the current or last verification of the shard began, epoch milliseconds; 0 before the first one. */
  started_at: Integer,
  /** Start of the last finished verification of the shard, epoch milliseconds; 0 if none has finished. */
  verified_at: Integer,
  /** Path (see pathOfPartition) of the last wallet that the current verification has checked. */
  after: v.optional(v.string()),
})

/** The progress of the daily ledger verification in one slice. A slice has the wallets of one shard. */
export type Slice = v.InferOutput<typeof SliceItem>

const slices = itemType({
  pk: 'VERIFICATION',
  sk: 'SLICE#{shard}',
  holds: 'how far the verification of a slice of the ledger is',
  found: 'all of them',
})

/** Reads, with strong consistency, how far the verification of each ledger slice has progressed. */
export async function readSlices(): Promise<Slice[]> {
  const stored = new Map<number, Slice>()
  for await (const item of queryItems({ ...slices.all({}), ConsistentRead: true })) {
    const slice = v.parse(SliceItem, item)
    stored.set(slice.shard, slice)
  }
  return Array.from(
    { length: registerShards },
    (_, shard) => stored.get(shard) ?? { shard, started_at: 0, verified_at: 0 },
  )
}

/** Stores the progress of the verification of a slice of the ledger. */
export const writeSlice = async (slice: Slice): Promise<void> => {
  await writeItem({ Put: { Item: { ...slices.key({ shard: slice.shard }), ...slice } } })
}

/** Minimum time between the starts of two verifications of the same shard. */
const passMilliseconds = 86_400_000

/** True if no verification of the ledger slice is running. */
export const isAtRest = ({ started_at, verified_at }: Slice): boolean => started_at === verified_at

/** Begins the next verification of a slice if one is due. Returns the slice, changed or unchanged. */
export const passAt = (slice: Slice, now: number): Slice =>
  isAtRest(slice) && now - slice.started_at >= passMilliseconds
    ? { ...slice, started_at: now, after: undefined }
    : slice

const WalletPath = v.pipe(
  v.string(),
  v.transform((path) => path.split('#')),
  v.tuple([v.pipe(v.string(), v.transform(Number), v.safeInteger()), WalletName]),
  v.transform(([userId, wallet]): WalletId => ({ userId, wallet })),
)

/** Parses a wallet's path, `{userId}#{wallet}`. */
export const toWalletId = (path: unknown): WalletId => v.parse(WalletPath, path)

/** Takes the wallet's path from the partition key of a wallet, of its bills or of its bill index. */
export const pathOfPartition = (pk: unknown): string => String(pk).replace(/^\w+#/, '')

/** Lists a shard's wallets that ever had a movement, sorted by path, starting after path `after`. */
export async function* listShard(
  shard: number,
  after?: string,
): AsyncGenerator<{ id: WalletId; path: string }> {
  const paths = queryItems({
    IndexName: indexName,
    KeyConditionExpression: 'gpk = :shard AND gsk > :after',
    // Uses a space, which sorts before every path, because DynamoDB cannot compare a key to an empty string.
    ExpressionAttributeValues: { ':shard': registerPartition(shard), ':after': after ?? ' ' },
    Limit: 200,
  })
  for await (const { gsk } of paths) yield { id: toWalletId(gsk), path: gsk as string }
}

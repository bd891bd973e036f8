import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { queryItems } from '../../db/read.ts'
import { indexName } from '../../db/partitions.ts'
import { Integer } from '../../db/table.ts'
import { writeItem } from '../../db/write.ts'
import { registerPartition, registerShards, type WalletId, WalletName } from '../wallet.ts'

const SliceItem = v.object({
  shard: Integer,
  /** When the slice's current or last verification began, epoch milliseconds; 0 before the first one. */
  started_at: Integer,
  /** When the slice's last finished verification began, epoch milliseconds; 0 before one is finished. */
  verified_at: Integer,
  /** Path of the last wallet that the current verification has verified. */
  after: v.optional(v.string()),
})

/** The progress of the daily verification in one slice of the ledger: the wallets of one shard. */
export type Slice = v.InferOutput<typeof SliceItem>

const slices = itemType({
  pk: 'VERIFICATION',
  sk: 'SLICE#{shard}',
  holds: 'how far the verification of a slice of the ledger is',
  found: 'all of them',
})

/** Reads the progress of all slices, strongly consistent. */
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

/** Stores the progress of a slice. */
export const writeSlice = async (slice: Slice): Promise<void> => {
  await writeItem({ Put: { Item: { ...slices.key({ shard: slice.shard }), ...slice } } })
}

/** Minimum time between the starts of two verifications of a slice. */
const passMilliseconds = 86_400_000

/** Whether no verification of a slice is under way: the last one that began is finished. */
export const isAtRest = ({ started_at, verified_at }: Slice): boolean => started_at === verified_at

/** Returns the slice as it is or, if another verification is due, at the beginning of that verification. */
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

/** The path of the wallet that a partition belongs to, be it the wallet's own or that of its bills. */
export const pathOfPartition = (pk: unknown): string => String(pk).replace(/^\w+#/, '')

/**
 * Lists the wallets of a shard that ever had a movement, sorted by path; only those after the path `after`.
 */
export async function* listShard(
  shard: number,
  after?: string,
): AsyncGenerator<{ id: WalletId; path: string }> {
  const paths = queryItems({
    IndexName: indexName,
    KeyConditionExpression: 'gpk = :shard AND gsk > :after',
    // The default is a space, which sorts before every path: DynamoDB cannot compare a key to an empty text.
    ExpressionAttributeValues: { ':shard': registerPartition(shard), ':after': after ?? ' ' },
    Limit: 200,
  })
  for await (const { gsk } of paths) yield { id: toWalletId(gsk), path: gsk as string }
}

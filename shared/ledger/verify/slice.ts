import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { queryItems } from '../../db/read.ts'
import { indexName } from '../../db/table-layout.ts'
import { Integer, type Item } from '../../db/table.ts'
import { putVersioned, writeIf } from '../../db/write.ts'
import { registerPartition, registerShards, type WalletId, WalletName } from '../wallet.ts'

const SliceItem = v.object({
  shard: Integer,
  version: Integer,
  /** Instant at which the present pass over the slice started, epoch milliseconds; 0 before the first. */
  started_at: Integer,
  /** Start of the newest pass that was finished, epoch milliseconds; 0 before the first. */
  verified_at: Integer,
  /** Path of the last wallet that the present pass verified. */
  after: v.optional(v.string()),
  /** Until when a run has the slice, epoch milliseconds; 0 if none has. */
  leased_until: Integer,
})

/**
 * A slice of the ledger for its nightly verification: the wallets of one shard of the register. Every run has
 * its own slice, and leaves in it where the next continues.
 */
export type Slice = v.InferOutput<typeof SliceItem>

const slices = itemType({
  pk: 'VERIFICATION',
  sk: 'SLICE#{shard}',
  holds: 'how far the verification of a slice of the ledger is, and which run has it',
  found: 'all of them',
})

/** Reads all slices, strongly consistent. */
export async function readSlices(): Promise<Slice[]> {
  const query = {
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': slices.partition({}), ':prefix': slices.sortKeyPrefix },
    ConsistentRead: true,
  }
  const stored = new Map<number, Slice>()
  for await (const item of queryItems(query)) {
    const slice = v.parse(SliceItem, item)
    stored.set(slice.shard, slice)
  }
  const unknown = { version: 0, started_at: 0, verified_at: 0, leased_until: 0 }
  return Array.from({ length: registerShards }, (_, shard) => stored.get(shard) ?? { shard, ...unknown })
}

/**
 * Stores the next state of a slice. Resolves with it as stored, or undefined if another run has changed the
 * slice since it was read.
 */
export async function writeSlice(slice: Slice): Promise<Slice | undefined> {
  const next = { ...slice, version: slice.version + 1 }
  const item: Item = { ...slices.key({ shard: slice.shard }), ...next }
  return (await writeIf(putVersioned(item, slice.version))) ? next : undefined
}

/** How long a slice waits after the start of a pass until the next one. */
const passMilliseconds = 86_400_000

/** Whether the present pass over a slice is finished; not before the first. */
export const isFinished = ({ started_at, verified_at }: Slice): boolean =>
  started_at > 0 && started_at === verified_at

/** The slice as a run takes it: its pass continued, or the next one started; undefined if it is not due. */
export function takeSlice(slice: Slice, now: number, leasedUntil: number): Slice | undefined {
  if (slice.leased_until > now) return undefined
  const isNew = slice.started_at === 0 || isFinished(slice)
  if (!isNew) return { ...slice, leased_until: leasedUntil }
  if (now - slice.started_at < passMilliseconds) return undefined
  return { ...slice, started_at: now, after: undefined, leased_until: leasedUntil }
}

const WalletPath = v.pipe(
  v.string(),
  v.transform((path) => path.split('#')),
  v.tuple([v.pipe(v.string(), v.transform(Number), v.safeInteger()), WalletName]),
)

/**
 * Lists every wallet of a shard that ever had a movement, after a wallet of this path, or from the first on.
 */
export async function* listShard(
  shard: number,
  after?: string,
): AsyncGenerator<{ id: WalletId; path: string }> {
  const paths = queryItems({
    IndexName: indexName,
    KeyConditionExpression: 'gpk = :shard AND gsk > :after',
    // DynamoDB cannot compare a key to an empty text; a space sorts before every wallet path.
    ExpressionAttributeValues: { ':shard': registerPartition(shard), ':after': after ?? ' ' },
    Limit: 200,
  })
  for await (const { gsk } of paths) {
    const [userId, wallet] = v.parse(WalletPath, gsk)
    yield { id: { userId, wallet }, path: gsk as string }
  }
}

/** Lists every wallet that ever had a movement. */
export async function* listWallets(): AsyncGenerator<WalletId> {
  for (let shard = 0; shard < registerShards; shard += 1)
    for await (const { id } of listShard(shard)) yield id
}

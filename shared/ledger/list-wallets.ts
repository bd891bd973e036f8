import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { queryItems, readItem } from '../db/read.ts'
import { indexName } from '../db/table-layout.ts'
import { Integer } from '../db/table.ts'
import { writeItem } from '../db/write.ts'
import { registerPartition, registerShards, type WalletId, WalletName } from './wallet.ts'

/** A cursor: a position in the list of all wallets. */
const WalletCursor = v.object({
  shard: Integer,
  /** Path of the last wallet that was read in this shard; undefined at the beginning of the shard. */
  after: v.optional(v.string()),
})
export type WalletCursor = v.InferOutput<typeof WalletCursor>

const WalletPath = v.pipe(
  v.string(),
  v.transform((path) => path.split('#')),
  v.tuple([v.pipe(v.string(), v.transform(Number), v.safeInteger()), WalletName]),
)

/** Lists every wallet that ever had a movement, from a cursor on, each with the cursor after it. */
export async function* listWallets(
  from: WalletCursor = { shard: 0 },
): AsyncGenerator<{ id: WalletId; cursor: WalletCursor }> {
  for (let { shard } = from; shard < registerShards; shard += 1) {
    const paths = queryItems({
      IndexName: indexName,
      KeyConditionExpression: 'gpk = :shard AND gsk > :after',
      ExpressionAttributeValues: {
        ':shard': registerPartition(shard),
        // DynamoDB cannot compare a key to an empty text; a space sorts before every wallet path.
        ':after': (shard === from.shard ? from.after : undefined) ?? ' ',
      },
      Limit: 200,
    })
    for await (const { gsk } of paths) {
      const [userId, wallet] = v.parse(WalletPath, gsk)
      yield { id: { userId, wallet }, cursor: { shard, after: gsk as string } }
    }
  }
}

const verificationKey = itemType({
  pk: 'VERIFICATION',
  sk: 'PLACE',
  holds: 'where the next nightly verification of the ledger starts',
  found: 'by its key; there is one',
}).key({})

/** Reads where the next ledger verification starts: where the last ran out of time, or the first wallet. */
export async function readVerificationCursor(): Promise<WalletCursor> {
  const item = await readItem(verificationKey, { consistent: true })
  return item === undefined ? { shard: 0 } : v.parse(WalletCursor, item)
}

/** Stores where the next nightly verification of the ledger starts. */
export async function writeVerificationCursor(cursor: WalletCursor): Promise<void> {
  await writeItem({ Put: { Item: { ...verificationKey, ...cursor } } })
}

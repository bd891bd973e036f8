import * as v from 'valibot'
import { queryItems } from '../db/read.ts'
import { indexName } from '../db/table-layout.ts'
import { registerPartition, registerShards, type WalletId, WalletName } from './wallet.ts'

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

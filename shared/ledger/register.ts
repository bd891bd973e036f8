import * as v from 'valibot'
import { indexName } from '../db/table-layout.ts'
import { registerPartition, registerShards, type WalletId, WalletName } from './wallet.ts'
import { queryFirst } from '../db/read.ts'

/** Where in the register of all wallets a reader stands. */
export interface Place {
  shard: number
  /** Name of the last wallet that was read. */
  after?: string | undefined
}

const Path = v.pipe(
  v.string(),
  v.transform((path) => path.split('#')),
  v.tuple([v.pipe(v.string(), v.transform(Number), v.safeInteger()), WalletName]),
)

const pageSize = 200

/** Every wallet in which anything ever happened, from a place on, with the place behind it. */
export async function* listWallets(
  from: Place = { shard: 0 },
): AsyncGenerator<{ id: WalletId; place: Place }> {
  let { after = '' } = from
  for (let { shard } = from; shard < registerShards; shard += 1) {
    for (let more = true; more;) {
      const names = await readNames(shard, after)
      for (const name of names) {
        const [userId, wallet] = v.parse(Path, name)
        yield { id: { userId, wallet }, place: { shard, after: name } }
      }
      more = names.length === pageSize
      after = names.at(-1) ?? after
    }
    after = ''
  }
}

async function readNames(shard: number, after: string): Promise<string[]> {
  const query = {
    IndexName: indexName,
    KeyConditionExpression: after === '' ? 'gpk = :shard' : 'gpk = :shard AND gsk > :after',
    ExpressionAttributeValues: {
      ':shard': registerPartition(shard),
      ...(after === '' ? {} : { ':after': after }),
    },
  }
  const items = await queryFirst(query, pageSize)
  return items.map((item) => item['gsk'] as string)
}

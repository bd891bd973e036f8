import * as v from 'valibot'
import { rowKey } from '../../../shared/db/numbered-list.ts'
import type { Partition } from '../../../shared/db/partitions.ts'
import { keyText, queryItems, readItem } from '../../../shared/db/read.ts'
import { lastWriteBefore } from '../../../shared/db/rest.ts'
import type { Item, Key } from '../../../shared/db/table.ts'
import { writeItem } from '../../../shared/db/write.ts'
import { freePrefix } from '../../../shared/deposits/address.ts'
import { forEachConcurrently } from '../../../shared/for-each-concurrently.ts'
import { evidenceKey, evidencePrefix } from '../../../shared/keys/evidence.ts'
import { archivePrefix, emptyKeySet, SigningKeySet, signingKeySetKey } from '../../../shared/keys/set.ts'
import { pathOfPartition, toWalletId } from '../../../shared/ledger/verify/slice.ts'
import { walletKey } from '../../../shared/ledger/wallet.ts'
import type { Terminal } from '../terminal.ts'
import { scanVisibly } from './scan-items.ts'

const concurrency = 64

/** Names of the counts in the result. Removed items are counted by partition. */
const kinds = {
  'TOKENS#': 'tokens',
  'CODE#': 'codes',
  'POOL#': 'free_addresses',
  'ADDRS#': 'untold_addresses',
} as const satisfies Partial<Record<Partition, string>>

/**
 * Prepares a table that was restored to its state at a full hour (epoch milliseconds). Can be run again.
 * Removes all access tokens, codes and free deposit addresses, because some may have been revoked or used
 * after that hour. Also removes assigned addresses that no user had seen, and key records (evidence, archived
 * keys) newer than the stored key set. Resolves with the number of removed items of each kind, and with two
 * lists of item keys. The table may be incomplete unless both are empty:
 * - `late`: items written in the pause before the hour. Of the same events, other items may be missing.
 * - `no_wallet`: the first bill of each wallet whose own item is missing.
 */
export async function prepareTable(hour: number, terminal: Pick<Terminal, 'screen'> = {}) {
  const broken = { late: [] as string[], no_wallet: [] as string[] }
  const found = { tokens: 0, codes: 0, free_addresses: 0, untold_addresses: 0 }
  const since = lastWriteBefore(hour)
  const items = scanVisibly(terminal, removable(since))
  await forEachConcurrently(items, concurrency, async (item) => {
    const kind = Object.entries(kinds).find(([partition]) => String(item['pk']).startsWith(partition))?.[1]
    if (kind !== undefined) {
      found[kind] += 1
      await remove(item)
    } else if (Number(item['applied_at'] ?? item['created_at']) >= since) broken.late.push(keyText(item))
    else if (await lacksWallet(item)) broken.no_wallet.push(keyText(item))
  })
  const keyRecords = transitionsAhead(await readKeyRecords())
  await forEachConcurrently(keyRecords, concurrency, remove)
  return { hour: new Date(hour).toISOString(), ...broken, ...found, key_records: keyRecords.length }
}

const removable = (since: number) => ({
  FilterExpression: [
    'begins_with(pk, :tokens)',
    'begins_with(pk, :codes)',
    '(begins_with(pk, :pools) AND begins_with(sk, :free))',
    '(begins_with(pk, :assigned) AND attribute_not_exists(announced_at))',
    'applied_at >= :since',
    '(begins_with(pk, :bills) AND (created_at >= :since OR sk = :first))',
    '(begins_with(pk, :deposits) AND created_at >= :since)',
  ].join(' OR '),
  ExpressionAttributeValues: {
    ...({
      ':tokens': 'TOKENS#',
      ':codes': 'CODE#',
      ':pools': 'POOL#',
      ':assigned': 'ADDRS#',
      ':bills': 'BL#',
      ':deposits': 'DEP#',
    } satisfies Record<string, Partition>),
    ':free': freePrefix,
    ':since': since,
    ':first': rowKey('', 1).sk,
  },
})

const lacksWallet = async ({ pk }: Item): Promise<boolean> =>
  (await readItem(walletKey(toWalletId(pathOfPartition(pk))), { consistent: true })) === undefined

const remove = ({ pk, sk }: Item) => writeItem({ Delete: { Key: { pk, sk } as Key } })

const readKeyRecords = (): Promise<Item[]> =>
  Array.fromAsync(
    queryItems({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': signingKeySetKey.pk },
      ConsistentRead: true,
    }),
  )

/**
 * Finds evidence and archived keys newer than the restored key set. These records would block the next
 * signing-key transition. Unlike functions with a queue, the rotation also writes at full hours. So a restore
 * to a full hour can bring back these records without the key set of the same transaction.
 */
function transitionsAhead(items: readonly Item[]): Item[] {
  const stored = items.find(({ sk }) => sk === signingKeySetKey.sk)
  const { sequence, keys } = stored === undefined ? emptyKeySet : v.parse(SigningKeySet, stored)
  const last = evidenceKey(sequence).sk
  return items.filter(
    ({ sk }) =>
      (String(sk).startsWith(evidencePrefix) && String(sk) > last) ||
      keys.some(({ kid }) => sk === archivePrefix + kid),
  )
}

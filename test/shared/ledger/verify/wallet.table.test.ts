import { expect, it } from 'vitest'
import type { Item } from '../../../../shared/db/table.ts'
import { readItem } from '../../../../shared/db/read.ts'
import { writeItem } from '../../../../shared/db/write.ts'
import { blockKey, chunkKey } from '../../../../shared/ledger/index/format.ts'
import { verifyWallet } from '../../../../shared/ledger/verify/wallet.ts'
import { encodeMarks, quarterOf, walletKey, type WalletId } from '../../../../shared/ledger/wallet.ts'
import { addBills, addUser } from '../../../support/ledger.ts'

const instantOf = (bill: number) => 1_700_000_000_000 + bill * 1_000_000

/** Adds a wallet with 140 bills of two types. The first 128 bills fill two chunks of the bill index. */
async function addWallet(): Promise<WalletId> {
  const id = { userId: await addUser(), wallet: 'reward' } as const
  const bills = Array.from({ length: 140 }, (_, i) => ({
    currency: 'USDT',
    type: i % 40 === 39 ? ('TRANSFER_OUT' as const) : ('REWARD' as const),
    at: instantOf(i),
  }))
  await addBills(id, bills)
  return id
}

const credits = { currency: 'USDT', kind: 1 } as const

const secondChunk = (id: WalletId) => chunkKey(id, quarterOf(instantOf(64)), 1)

const change = async (key: { pk: string; sk: string }, changes: Item) =>
  writeItem({ Put: { Item: { ...(await readItem(key, { consistent: true })), ...changes } } })

it.each<[string, (id: WalletId) => Promise<unknown>, string[]]>([
  ['nothing', async () => undefined, []],
  ['a chunk', (id) => writeItem({ Delete: { Key: secondChunk(id) } }), ['chunk 1 of the index']],
  ['the counts of a chunk', (id) => change(secondChunk(id), { before: { 4: 63 } }), ['chunk 1 of the index']],
  [
    'a bill in a list',
    (id) => change(blockKey(id, credits, 0), { '1': Uint8Array.of(0, 1, 2) }),
    ['chunk 1 in block 0 of the bills of USDT 1'],
  ],
  [
    'a list',
    (id) => writeItem({ Delete: { Key: blockKey(id, { kind: 'TRANSFER_OUT' }, 0) } }),
    [
      'chunk 0 in block 0 of the bills of * TRANSFER_OUT',
      'chunk 1 in block 0 of the bills of * TRANSFER_OUT',
    ],
  ],
  // Not a defect: an interrupted posting can leave list entries whose chunk is not written yet.
  [
    'the list entries of a chunk that is not written yet',
    (id) => change(blockKey(id, credits, 0), { '2': Uint8Array.of(3) }),
    [],
  ],
  [
    'the marks of the newest bills',
    (id) => change(walletKey(id), { tail: encodeMarks([{ code: 4, quarter: 7 }]) }),
    ['marks of the newest bills'],
  ],
  [
    'the first instant of the index',
    (id) => change(walletKey(id), { first: 7 }),
    ['first quarter of an hour of the index'],
  ],
])(
  'verification reports what is wrong with the bill index after a change to %s',
  async (_, falsify, expected) => {
    const id = await addWallet()
    await falsify(id)
    const { differences } = await verifyWallet(id)
    expect(differences.map(({ what }) => what)).toEqual(expected)
  },
)

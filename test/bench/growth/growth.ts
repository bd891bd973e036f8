import type { Options, Row, Table } from '../table.ts'
import { measureBills, measureExports } from './bills.ts'
import { measureSearches } from './searches.ts'
import { measureTree } from './tree.ts'

/** Measures how costs grow with the number of records, for a page of bills, a search and a new member. */
export async function measureGrowth({ short }: Options): Promise<Table[]> {
  const sizes = short ? [1_000] : [1_000, 100_000, 1_000_000]
  const bills: Row[] = []
  const exports: Row[] = []
  const members: Row[] = []
  for (const size of sizes) {
    bills.push(...(await measureBills(size)))
    exports.push(...(await measureExports(size)))
    members.push(...(await measureSearches(size)))
  }
  return [
    {
      name: 'growth-bills',
      title: 'Pages of bills as a wallet grows',
      notes: [
        'The dearer of the first and the middle page, by rounds of calls after one another and read units.',
      ],
      rows: bills,
    },
    {
      name: 'growth-exports',
      title: 'Exports of bills as a wallet grows',
      notes: [
        'The newest 10,000 bills as CSV. Rounds are of 16 calls; the time is that of a table on the same machine.',
      ],
      rows: exports,
    },
    {
      name: 'growth-members',
      title: 'Pages and searches of members as a downline grows',
      notes: ['Units by the sizes of the items. Every leaf is as full as it gets.'],
      rows: members,
    },
    {
      name: 'growth-tree',
      title: 'How fast the tree of one root grows',
      notes: [
        'From the rounds of calls of one worker, at 5 ms a round.',
        'A partition takes 1,000 write units a second.',
      ],
      rows: await measureTree(short ? 1_000 : 20_000),
    },
  ]
}

import { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { listMembers, prefetchMembers } from '../../../shared/community/search/find.ts'
import { type Item, type Key, tableName } from '../../../shared/db/table.ts'
import { billedReadUnits } from '../../support/billed-units.ts'
import { itemBytes } from '../../support/item-bytes.ts'
import { largeList, listOwnerId } from '../../support/large-list/large-list.ts'
import type { Row } from '../table.ts'
import { measureInRounds, type Send } from './rounds.ts'

/** Measures what a page costs, with and without a keyword, in an in-memory list of `size` members. */
export async function measureSearches(size: number): Promise<Row[]> {
  const find = largeList(size)
  const queries: [string, { keyword?: string }, number][] = [
    ['first page', {}, 1],
    ['middle page', {}, Math.ceil(size / 40)],
    ['keyword, a first name', { keyword: 'yuki' }, 1],
    ['keyword, half of them', { keyword: 'example.com' }, 1],
    ['keyword, nobody', { keyword: 'nobody' }, 1],
    ['middle page of a keyword', { keyword: 'example.com' }, Math.ceil(size / 80)],
  ]
  const rows: Row[] = []
  for (const [name, filter, current] of queries) {
    let readUnits = 0
    const answer: Send = async (command) => {
      // Every read is a BatchGet. The only other command updates the caller's budget and needs no answer.
      if (!(command instanceof BatchGetCommand)) return {}
      const { Keys = [], ConsistentRead: isConsistent = false } =
        command.input.RequestItems?.[tableName()] ?? {}
      const items = Keys.map((key) => find(key as Key))
      for (const item of items)
        readUnits += billedReadUnits(bytesOf(item), isConsistent ? 'consistent' : 'eventual')
      return { Responses: { [tableName()]: items.filter((item) => item !== undefined) } }
    }
    const query = { type: 'COMMUNITY' as const, ...filter }
    const { result, rounds } = await measureInRounds(
      async () => listMembers(await prefetchMembers(query, listOwnerId), query, { current, size: 20 }),
      answer,
    )
    const members = `${size.toLocaleString('en-US')}, ${name}`
    rows.push({ members, found: result.total, rounds, 'read units': readUnits })
  }
  return rows
}

const bytesOf = (item: Item | undefined): number =>
  item === undefined ? 0 : itemBytes(marshall(item, { removeUndefinedValues: true }))

import { readItems } from '../../db/read.ts'
import type { Item, Key } from '../../db/table.ts'
import { putVersioned, writeItem } from '../../db/write.ts'
import { comparePositions, type MemberList } from '../counted-b-tree/node.ts'
import { isSameText, type SearchText } from '../keyword.ts'
import {
  indexKey,
  type SearchIndex,
  type Segment,
  segmentMembersKeys,
  tailKeys,
  toIndex,
} from './index-head.ts'
import { type IndexedMember, membersPerItem, packMembers, unpackMembers } from './members-item.ts'
import { editPosting, toPosting } from './posting.ts'
import { blockKey, blockOf, nameOf, packBlock, unpackBlock } from './term-block.ts'
import { eachTerm, type Term } from './terms.ts'

/** New texts of members in a list. */
export interface TextReplacement {
  list: MemberList
  members: readonly IndexedMember[]
}

/**
 * Replaces the search texts of members in the search indexes of lists, where these have them, by those given.
 * It may be called again after any interruption. Throws ConditionFailed when another worker writes the same
 * items.
 */
export async function replaceTexts(replacements: readonly TextReplacement[]): Promise<void> {
  const items = await readItems(
    replacements.map(({ list }) => indexKey(list)),
    { consistent: true },
  )
  for (const [i, replacement] of replacements.entries()) {
    const index = toIndex(items[i])
    if (index !== undefined) await replaceInIndex(index, replacement)
  }
}

async function replaceInIndex(index: SearchIndex, { list, members }: TextReplacement): Promise<void> {
  await replaceIn(tailKeys(list, index.tail), members)
  for (const segment of index.segments) {
    const { oldest, newest } = segment
    const inside = members.filter(
      (member) => comparePositions(oldest, member) <= 0 && comparePositions(member, newest) <= 0,
    )
    if (inside.length === 0) continue
    await replaceIn(segmentMembersKeys(list, segment), inside, (changes) =>
      editBlocks(list, segment, changes),
    )
  }
}

/** The text of a member before and after, and the member's index in the items that were searched. */
interface TextChange {
  rank: number
  before: SearchText
  after: SearchText
}

/**
 * Replaces texts in items with members. `first` is done before the items are written: after an interruption,
 * what they still have tells that it may not have been done.
 */
async function replaceIn(
  keys: readonly Key[],
  members: readonly IndexedMember[],
  first: (changes: TextChange[]) => Promise<void> = async () => undefined,
): Promise<void> {
  const textByUser = new Map(members.map(({ userId, text }) => [userId, text]))
  const items = await readItems(keys, { consistent: true })
  for (const [i, key] of keys.entries()) {
    const { version, members: stored } = unpackMembers(items[i])
    const changes = stored.flatMap(({ userId, text: before }, at): TextChange[] => {
      const after = textByUser.get(userId)
      return after === undefined || isSameText(before, after)
        ? []
        : [{ rank: i * membersPerItem + at, before, after }]
    })
    if (changes.length === 0) continue
    await first(changes)
    const replaced = stored.map((member) => ({
      ...member,
      text: textByUser.get(member.userId) ?? member.text,
    }))
    await writeItem(putVersioned({ ...key, ...packMembers(replaced, version + 1) }, version))
  }
}

/** Changes which members match the terms that only the text before, or only the one after, has. */
async function editBlocks(list: MemberList, { id, bits }: Segment, changes: TextChange[]): Promise<void> {
  const edits = changes.flatMap(({ rank, before, after }) => {
    const [lost, gained] = [termsOf(before), termsOf(after)]
    return [
      ...[...lost.values()]
        .filter((term) => !gained.has(nameOf(term)))
        .map((term) => ({ term, rank, matches: false })),
      ...[...gained.values()]
        .filter((term) => !lost.has(nameOf(term)))
        .map((term) => ({ term, rank, matches: true })),
    ]
  })
  const byBlock = [...Map.groupBy(edits, ({ term }) => blockOf(term, bits))]
  const keys = byBlock.map(([block]) => blockKey(list, id, block))
  const items = await readItems(keys, { consistent: true })
  for (const [i, [, blockEdits]] of byBlock.entries()) {
    const { version, block } = unpackBlock(items[i] as Item)
    for (const { term, rank, matches } of blockEdits) {
      const name = nameOf(term)
      const posting = block.get(name)
      if (posting !== undefined) editPosting(posting, rank, matches)
      else if (matches) block.set(name, toPosting([rank]))
    }
    await writeItem(putVersioned({ ...(keys[i] as Key), ...packBlock(block, version + 1) }, version))
  }
}

/** The terms of a text by their names. */
function termsOf(text: SearchText): Map<number, Term> {
  const terms = new Map<number, Term>()
  eachTerm(text, (term) => terms.set(nameOf(term), term))
  return terms
}

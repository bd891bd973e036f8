import { readItems } from '../../../db/read.ts'
import type { Key } from '../../../db/table.ts'
import { putVersioned, writeItem } from '../../../db/write.ts'
import { comparePositions, type MemberList } from '../../list/node.ts'
import { eachTerm, isSameText, type SearchText } from '../keyword.ts'
import {
  blockKey,
  blockOf,
  type IndexedMember,
  indexKey,
  packBlock,
  packMembers,
  type Segment,
  segmentMembersKeys,
  tailKeys,
  toIndex,
  unpackMembers,
  versionOf,
} from './items.ts'
import { makeBlocks } from './segment.ts'

/** The members of a list who get new search texts. */
export interface TextReplacement {
  list: MemberList
  members: readonly IndexedMember[]
}

/**
 * Replaces members' search texts in the search indexes of lists. Skips lists without an index. Throws
 * ConditionFailed if another worker writes the same items. Repeat a call that did not complete.
 */
export async function replaceTexts(replacements: readonly TextReplacement[]): Promise<void> {
  const items = await readItems(
    replacements.map(({ list }) => indexKey(list)),
    { consistent: true },
  )
  for (const [i, { list, members }] of replacements.entries()) {
    const index = toIndex(items[i])
    if (index === undefined) continue
    const texts = new Map(members.map(({ userId, text }) => [userId, text]))
    await replaceIn(tailKeys(list, index.tail), texts)
    for (const segment of index.segments) {
      const { oldest, newest } = segment
      const isInside = (member: IndexedMember) =>
        comparePositions(oldest, member) <= 0 && comparePositions(member, newest) <= 0
      if (!members.some(isInside)) continue
      await replaceIn(segmentMembersKeys(list, segment), texts, (before, after) =>
        rewriteBlocks(list, segment, before, after),
      )
    }
  }
}

/**
 * Writes the members' items after the term blocks. After an interruption, the items still have their old
 * texts, so a repeated call sees the difference and writes the blocks again.
 */
async function replaceIn(
  keys: readonly Key[],
  texts: ReadonlyMap<number, SearchText>,
  rewrite?: (before: readonly SearchText[], after: readonly SearchText[]) => Promise<void>,
): Promise<void> {
  const stored = (await readItems(keys, { consistent: true })).map(unpackMembers)
  const replaced = stored.map(({ members }) =>
    members.map((member) => ({ ...member, text: texts.get(member.userId) ?? member.text })),
  )
  const textsOf = (members: readonly IndexedMember[]) => members.map(({ text }) => text)
  await rewrite?.(
    stored.flatMap(({ members }) => textsOf(members)),
    replaced.flatMap(textsOf),
  )
  for (const [i, { version, members }] of stored.entries()) {
    const next = replaced[i] ?? []
    if (members.every(({ text }, at) => isSameText(text, next[at]?.text))) continue
    await writeItem(putVersioned({ ...(keys[i] as Key), ...packMembers(next, version + 1) }, version))
  }
}

async function rewriteBlocks(
  list: MemberList,
  { id, bits }: Segment,
  before: readonly SearchText[],
  after: readonly SearchText[],
): Promise<void> {
  const changed = new Set<number>()
  for (const [rank, text] of after.entries()) {
    const old = before[rank] as SearchText
    if (isSameText(old, text)) continue
    for (const term of termsOf(old).symmetricDifference(termsOf(text))) changed.add(blockOf(term, bits))
  }
  if (changed.size === 0) return
  const made = makeBlocks(after, bits, changed)
  const keys = Array.from(changed, (block) => blockKey(list, id, block))
  const items = await readItems(keys, { consistent: true })
  for (const [i, block] of [...changed].entries()) {
    const version = versionOf(items[i])
    const packed = packBlock(made[block] ?? [], version + 1)
    await writeItem(putVersioned({ ...(keys[i] as Key), ...packed }, version))
  }
}

function termsOf(text: SearchText): Set<number> {
  const terms = new Set<number>()
  eachTerm(text, (term) => terms.add(term))
  return terms
}

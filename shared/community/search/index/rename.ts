import { readItems } from '../../../db/read.ts'
import type { Item, Key } from '../../../db/table.ts'
import { putVersioned, writeItem } from '../../../db/write.ts'
import { comparePositions, type MemberList } from '../../list/node.ts'
import { eachTerm, isSameText, type SearchText } from '../keyword.ts'
import {
  blockKey,
  blockOf,
  type IndexedMember,
  indexKey,
  nameOf,
  packBlock,
  packMembers,
  type Posting,
  type Segment,
  segmentMembersKeys,
  tailKeys,
  toIndex,
  unpackBlock,
  unpackMembers,
} from './items.ts'
import { makeBlocks } from './segment.ts'

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
  for (const [i, { list, members }] of replacements.entries()) {
    const index = toIndex(items[i])
    if (index === undefined) continue
    const textByUser = new Map(members.map(({ userId, text }) => [userId, text]))
    await (await planReplacement(tailKeys(list, index.tail), textByUser)).write()
    for (const segment of index.segments) {
      const { oldest, newest } = segment
      const isInside = (member: IndexedMember) =>
        comparePositions(oldest, member) <= 0 && comparePositions(member, newest) <= 0
      if (!members.some(isInside)) continue
      const plan = await planReplacement(segmentMembersKeys(list, segment), textByUser)
      // Blocks come first: after an interruption, the items with members tell that this is not finished.
      await rewriteBlocks(list, segment, plan.before, plan.after)
      await plan.write()
    }
  }
}

/** Reads items with members, and replaces texts in memory; `write` then writes the items that change. */
async function planReplacement(keys: readonly Key[], textByUser: ReadonlyMap<number, SearchText>) {
  const stored = (await readItems(keys, { consistent: true })).map(unpackMembers)
  const replaced = stored.map(({ members }) =>
    members.map((member) => ({ ...member, text: textByUser.get(member.userId) ?? member.text })),
  )
  const textsOf = (members: readonly IndexedMember[]) => members.map(({ text }) => text)
  return {
    before: stored.flatMap(({ members }) => textsOf(members)),
    after: replaced.flatMap(textsOf),
    async write(): Promise<void> {
      for (const [i, { version, members }] of stored.entries()) {
        const next = replaced[i] ?? []
        if (members.every(({ text }, at) => isSameText(text, next[at]?.text))) continue
        const item = { ...(keys[i] as Key), ...packMembers(next, version + 1) }
        await writeItem(putVersioned(item, version))
      }
    },
  }
}

/** Makes those term blocks of a segment anew in which texts have other terms than before. */
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
    const [lost, gained] = [blocksByTerm(old, bits), blocksByTerm(text, bits)]
    for (const [name, block] of lost) if (!gained.has(name)) changed.add(block)
    for (const [name, block] of gained) if (!lost.has(name)) changed.add(block)
  }
  if (changed.size === 0) return
  const made = makeBlocks(after, bits, changed)
  const keys = Array.from(changed, (block) => blockKey(list, id, block))
  const items = await readItems(keys, { consistent: true })
  for (const [i, block] of [...changed].entries()) {
    const { version } = unpackBlock(items[i] as Item)
    const packed = packBlock(made.get(block) ?? new Map<number, Posting>(), version + 1)
    await writeItem(putVersioned({ ...(keys[i] as Key), ...packed }, version))
  }
}

/** The block of each term of a text, by the term's name. */
function blocksByTerm(text: SearchText, bits: number): Map<number, number> {
  const blocks = new Map<number, number>()
  eachTerm(text, (term) => blocks.set(nameOf(term), blockOf(term, bits)))
  return blocks
}

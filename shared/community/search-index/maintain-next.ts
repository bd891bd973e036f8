import type { MemberList } from '../counted-b-tree/node.ts'
import { isIndexDue, putNextHead, readHead } from '../tree-journal.ts'
import type { IndexLimits } from './append-members.ts'
import { maintainIndex } from './maintain-index.ts'

/** Adds a list to those whose search indexes are due for maintenance. */
export const addDue = (due: readonly MemberList[], list: MemberList): MemberList[] => [
  ...due.filter(({ kind, ownerId }) => kind !== list.kind || ownerId !== list.ownerId),
  list,
]

/** Does one piece of the maintenance that is due in a tree, if any. Each list has its turn. */
export async function maintainNext(rootId: number, limits: IndexLimits): Promise<void> {
  const head = await readHead(rootId)
  const [list, ...others] = head.due
  if (list === undefined || !isIndexDue(head)) return
  const guard = (isDue: boolean) =>
    putNextHead(rootId, { ...head, due: isDue ? addDue(others, list) : others })
  await maintainIndex(rootId, list, guard, limits)
}

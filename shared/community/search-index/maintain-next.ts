import type { MemberList } from '../counted-b-tree/node.ts'
import { isIndexDue, putNextHead, readHead } from '../tree-head.ts'
import type { IndexLimits } from './append-members.ts'
import { maintainIndex } from './maintain-index.ts'

/** Maximum number of lists that wait for maintenance, because each write of a tree's head has them. */
const maxDue = 50

/**
 * Adds a list to those whose search indexes are due for maintenance, unless too many wait: each newcomer of a
 * list that is due adds it again.
 */
export const addDue = (due: MemberList[], list: MemberList): MemberList[] =>
  due.length >= maxDue || due.some(({ kind, ownerId }) => kind === list.kind && ownerId === list.ownerId)
    ? due
    : [...due, list]

/**
 * Does one piece of the maintenance that is due in a tree, if any. Each list has its turn. An open batch
 * comes first, because it adds to indexes without changing the tree's head, which tells that the tree has
 * changed.
 */
export async function maintainNext(rootId: number, limits: IndexLimits): Promise<void> {
  const head = await readHead(rootId)
  const [list, ...others] = head.due
  if (list === undefined || !isIndexDue(head) || head.open !== undefined) return
  const guard = (isDue: boolean) =>
    putNextHead(rootId, { ...head, due: isDue ? addDue(others, list) : others })
  await maintainIndex(rootId, list, guard, limits)
}

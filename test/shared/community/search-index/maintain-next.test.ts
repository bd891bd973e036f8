import { expect, it } from 'vitest'
import type { MemberList } from '../../../../shared/community/counted-b-tree/node.ts'
import { addDue } from '../../../../shared/community/search-index/maintain-next.ts'

const list = (ownerId: number) => ({ kind: 'COMMUNITY' as const, ownerId })

it('the lists that are due keep their order, and never outgrow the item of a tree, however many there are', () => {
  expect(addDue([list(1), list(2)], list(1))).toEqual([list(1), list(2)])
  expect(addDue([list(1)], { kind: 'DIRECT', ownerId: 1 })).toHaveLength(2)
  const due = Array.from({ length: 20_000 }, (_, i) => list(i)).reduce<MemberList[]>(addDue, [])
  expect(due).toEqual(Array.from({ length: 50 }, (_, i) => list(i)))
})

import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../dates.ts'
import { Day } from '../events/fields.ts'
import { pageQuery } from '../http/page.ts'
import type { ListKind } from './counted-b-tree/node.ts'

const filter = {
  /** Substring of nickname or email, without regard to case. */
  keyword: v.optional(v.string()),
  /** First and last day of joining. */
  beginDate: v.optional(Day),
  endDate: v.optional(Day),
  type: v.optional(v.picklist(['DIRECT', 'COMMUNITY']), 'DIRECT'),
}

/** Which members are asked for. */
export interface MemberFilter {
  keyword?: string | undefined
  beginDate?: string | undefined
  endDate?: string | undefined
  type: ListKind
}

const inOrder = ({ beginDate, endDate }: MemberFilter) => daysInOrder(beginDate, endDate)
const outOfOrder = 'must not be before beginDate'

/** The query of a list of members without pages. */
export const MembersQuery = v.pipe(
  v.object(filter),
  v.forward(
    v.check((query) => inOrder(query), outOfOrder),
    ['endDate'],
  ),
)

/** The query of a page of members. */
export const MembersPageQuery = v.pipe(
  v.object({ ...filter, ...pageQuery }),
  v.forward(
    v.check((query) => inOrder(query), outOfOrder),
    ['endDate'],
  ),
)

/** The span of time in which the members joined, as instants. */
export const spanOf = ({ beginDate, endDate }: Pick<MemberFilter, 'beginDate' | 'endDate'>) => ({
  from: beginDate === undefined ? undefined : startOfDay(beginDate),
  before: endDate === undefined ? undefined : endOfDay(endDate),
})

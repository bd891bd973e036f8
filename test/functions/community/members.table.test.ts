import { beforeAll, expect, it } from 'vitest'
import { handler } from '../../../functions/community/members.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { newUserIds } from '../../support/community.ts'
import { addSmallFamily, type SmallFamily } from '../../support/small-family.ts'

const call = callAs(handler, 'community.read')

let family: SmallFamily

/** Calls the endpoint as the root of the family. Returns the ids of the members that it finds. */
async function find(filter: string): Promise<number[]> {
  const { data } = await call(family.root, { query: `current=1&size=20&${filter}` })
  return (data as { records: { user_id: number }[] }).records.map(({ user_id }) => user_id)
}

beforeAll(async () => {
  family = await addSmallFamily()
})

it('community/members lists a downline, newest first, with levels, teams and sums', async () => {
  const { root, child, grandchild } = family
  const { status, code, data, text } = await call(root, { query: 'type=COMMUNITY&current=1&size=20' })
  expect([status, code]).toEqual([200, 0])
  const amount = expect.any(Number) as number
  expect(data).toEqual({
    records: [
      {
        user_id: grandchild,
        nickname: 'Grandchild',
        email: `G***${String(grandchild).at(-1)}@example.com`,
        joined_at: Date.UTC(2026, 0, 3),
        ...{ level: 2, direct_count: 0, team_count: 0, note: null },
        ...{ package_amount: amount, team_performance: 0 },
      },
      {
        user_id: child,
        nickname: 'Child',
        email: `C***${String(child).at(-1)}@example.com`,
        joined_at: Date.UTC(2026, 0, 2),
        ...{ level: 1, direct_count: 1, team_count: 1, note: '' },
        ...{ package_amount: amount, team_performance: amount },
      },
    ],
    ...{ total: 2, size: 20, current: 1, pages: 1 },
  })
  expect(text).toContain('"package_amount":2.000000000000000001,"team_performance":0,')
  expect(text).toContain('"package_amount":0.100000000000000001,"team_performance":2.000000000000000001,')
})

it('without a type, community/members lists direct referrals only', async () => {
  expect(await find('')).toEqual([family.child])
  expect(await find('type=DIRECT')).toEqual([family.child])
})

it('community/members of a page past the last has no records, but the true total', async () => {
  const { data } = await call(family.root, { query: 'current=2&size=1' })
  expect(data).toEqual({ records: [], total: 1, size: 1, current: 2, pages: 1 })
})

it.each([
  ['the beginning of a nickname, in any case', 'gRAND', ['grandchild']],
  ['a later part of a nickname', 'randchild', []],
  ['nothing', '', ['grandchild', 'child']],
  ['a name of nobody', 'Nobody', []],
] as const)('a search for %s finds the members that it should', async (_what, keyword, found) => {
  const ids = found.map((who) => family[who])
  expect(await find(`type=COMMUNITY&keyword=${keyword}`)).toEqual(ids)
})

it('a search for a whole address finds its member, in any case', async () => {
  const keyword = `CHILD-${family.child}@Example.com`
  expect(await find(`keyword=${keyword}`)).toEqual([family.child])
})

it('a search finds a part of the address as it is shown', async () => {
  expect(await find(`keyword=c***${String(family.child).at(-1)}@e`)).toEqual([family.child])
})

it('a search does not find what the mask of an address hides', async () => {
  const hidden = `child-${family.child}`
  for (const keyword of [hidden, `${hidden}@example.co`, `${hidden}@example.com`.slice(1)])
    expect(await find(`keyword=${keyword}`)).toEqual([])
})

it.each([
  ['beginDate=2026-01-02&endDate=2026-01-03', ['grandchild', 'child']],
  ['beginDate=2026-01-03', ['grandchild']],
  ['endDate=2026-01-02', ['child']],
  ['beginDate=2026-01-04', []],
] as const)('community/members?%s lists who joined on these days', async (period, found) => {
  expect(await find(`type=COMMUNITY&${period}`)).toEqual(found.map((who) => family[who]))
})

it('community/members is empty for a stranger, whatever id the query names', async () => {
  const { data } = await call(newUserIds(), { query: `current=1&size=20&user_id=${family.root}` })
  expect(data).toEqual({ records: [], total: 0, size: 20, current: 1, pages: 0 })
})

it.each([
  ['size=20', 'current'],
  ['current=0&size=20', 'current'],
  ['current=1', 'size'],
  ['current=1&size=21', 'size'],
  ['current=1&size=20&type=direct', 'type'],
  ['current=1&size=20&beginDate=2026-02-30', 'beginDate'],
  ['current=1&size=20&endDate=0000-01-01', 'endDate'],
  ['current=1&size=20&beginDate=2026-02-03&endDate=2026-02-02', 'endDate'],
  [`current=1&size=20&keyword=${'k'.repeat(255)}`, 'keyword'],
])('community/members?%.60s is refused because of %s', async (query, parameter) => {
  expect(await call(family.root, { query })).toMatchObject(refusalOf(parameter))
})

it('community/members refuses a token without community.read', async () => {
  const scopes = scopesWithout('community.read')
  expect(await call(family.root, { query: 'current=1&size=20', scopes })).toMatchObject(scopeRefusal)
})

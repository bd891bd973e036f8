import { beforeAll, expect, it, vi } from 'vitest'
import { handler } from '../../../functions/community/export.ts'
import { settings } from '../../../shared/settings.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { newUserIds } from '../../support/community.ts'
import { addSmallFamily, type SmallFamily } from '../../support/small-family.ts'

const call = callAs(handler, 'community.read')

let family: SmallFamily

beforeAll(async () => {
  family = await addSmallFamily()
})

it('community/export has the members of a downline, newest first, with all digits', async () => {
  const { root, child, grandchild } = family
  const { status, code, data, text } = await call(root, { query: 'type=COMMUNITY' })
  expect([status, code]).toEqual([200, 0])
  expect(data).toMatchObject({
    records: [
      { user_id: grandchild, level: 2, note: null },
      { user_id: child, level: 1, note: '' },
    ],
    ...{ total: 2, cap: 10_000, truncated: false },
  })
  expect(text).toContain('"package_amount":0.100000000000000001,"team_performance":2.000000000000000001,')
})

it('community/export has the newest members up to its cap, and the true total', async () => {
  vi.spyOn(settings(), 'exportCap', 'get').mockReturnValue(1)
  const { data } = await call(family.root, { query: 'type=COMMUNITY' })
  expect(data).toMatchObject({
    records: [{ user_id: family.grandchild }],
    ...{ total: 2, cap: 1, truncated: true },
  })
})

it.each([
  ['', ['child']],
  ['type=DIRECT', ['child']],
  ['type=COMMUNITY&keyword=grand', ['grandchild']],
  ['type=COMMUNITY&beginDate=2026-01-03', ['grandchild']],
  ['type=COMMUNITY&endDate=2026-01-01', []],
] as const)('community/export?%s has the members that it should', async (query, found) => {
  const { data } = await call(family.root, { query })
  const ids = (data as { records: { user_id: number }[] }).records.map(({ user_id }) => user_id)
  expect(ids).toEqual(found.map((who) => family[who]))
})

it('community/export as CSV is an attachment with a line for each member, newest first', async () => {
  const { root, child, grandchild } = family
  const headers = { accept: 'text/csv' }
  const answer = await call(root, { query: 'type=COMMUNITY', headers })
  expect(answer.status).toBe(200)
  expect(answer.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="community-members.csv"',
  })
  expect(answer.text.split('\r\n')).toEqual([
    '\ufeffuser_id,nickname,email,joined_at,joined_at_iso,level,direct_count,team_count,package_amount,' +
      'team_performance,note',
    `${grandchild},Grandchild,G***${String(grandchild).at(-1)}@example.com,1767398400000,` +
      '2026-01-03T00:00:00.000Z,2,0,0,2.000000000000000001,0,',
    `${child},Child,C***${String(child).at(-1)}@example.com,1767312000000,` +
      '2026-01-02T00:00:00.000Z,1,1,1,0.100000000000000001,2.000000000000000001,',
    '',
  ])
})

it('community/export is empty for a stranger, whatever id the query names', async () => {
  const { data } = await call(newUserIds(), { query: `user_id=${family.root}` })
  expect(data).toEqual({ records: [], total: 0, cap: 10_000, truncated: false })
})

it.each([
  ['type=ALL', 'type'],
  ['endDate=today', 'endDate'],
  ['beginDate=2026-02-03&endDate=2026-02-02', 'endDate'],
  [`keyword=${'k'.repeat(255)}`, 'keyword'],
])('community/export?%.60s is refused because of %s', async (query, parameter) => {
  expect(await call(family.root, { query })).toMatchObject(refusalOf(parameter))
})

it('community/export refuses a token without community.read', async () => {
  expect(await call(family.root, { scopes: scopesWithout('community.read') })).toMatchObject(scopeRefusal)
})

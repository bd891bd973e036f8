import { expect, it } from 'vitest'
import type { Member } from '../../../shared/community/member.ts'
import { membersCsv } from '../../../shared/community/members-csv.ts'
import { Big } from '../../../shared/money.ts'

const member: Member = {
  user_id: 7,
  nickname: 'Ann "the" first, née\nB',
  email: 'a***n@example.com',
  joined_at: 1_767_225_600_000,
  level: 1,
  direct_count: 2,
  team_count: 3,
  package_amount: new Big('0.100000000000000001'),
  team_performance: new Big('12'),
  note: '=cmd',
}

it('is laid out by RFC 4180 behind a byte order mark', () => {
  const { status, headers, body } = membersCsv([member, { ...member, nickname: 'B', note: null }])
  expect(status).toBe(200)
  expect(headers).toEqual({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="community-members.csv"',
  })
  const rest = 'a***n@example.com,1767225600000,1,2,3,0.100000000000000001,12'
  expect(body).toBe(
    [
      '\uFEFFuser_id,nickname,email,joined_at,level,direct_count,team_count,package_amount,team_performance,note',
      `7,"Ann ""the"" first, née\nB",${rest},'=cmd`,
      `7,B,${rest},`,
      '',
    ].join('\r\n'),
  )
})

it.each(['a\n=1+1', 'a\r=1+1', 'a\r\n=1+1'])('quotes %j, which would begin a row of its own', (nickname) => {
  const { body } = membersCsv([{ ...member, nickname }])
  expect(body).toContain(`\r\n7,"${nickname}",a***n`)
})

import { expect, it } from 'vitest'
import { csvTable, textCell } from '../../../shared/http/csv.ts'
import { Big } from '../../../shared/money.ts'

const member = {
  user_id: 7,
  nickname: 'Ann "the" first, née\nB',
  email: 'a***n@example.com',
  joined_at: 1_767_225_600_000,
  level: 1,
  direct_count: 2,
  team_count: 3,
  package_amount: new Big('0.100000000000000001'),
  team_performance: new Big('12'),
  note: '=cmd' as string | null,
}

/** The CSV of some members, with a table's head. */
function toCsv(...members: (typeof member)[]): string {
  const { head, line } = csvTable(Object.keys(member) as (keyof typeof member)[])
  return head + members.map(line).join('')
}

it.each(['"Ann"', 'say "hi"', 'a, b', 'a; b', 'a\tb'])('the CSV cell %j is quoted', (nickname) => {
  const body = toCsv({ ...member, nickname })
  expect(body).toContain(`\r\n7,"${nickname.replaceAll('"', '""')}",a***n`)
})

it('a CSV starts with a byte order mark, follows RFC 4180, and has instants also as ISO 8601', () => {
  const rest = 'a***n@example.com,1767225600000,2026-01-01T00:00:00.000Z,1,2,3,0.100000000000000001,12'
  const columns =
    'user_id,nickname,email,joined_at,joined_at_iso,level,direct_count,team_count,package_amount,team_performance,note'
  expect(toCsv(member, { ...member, nickname: 'B', note: null })).toBe(
    [`\uFEFF${columns}`, `7,"Ann ""the"" first, née\nB",${rest},'=cmd`, `7,B,${rest},`, ''].join('\r\n'),
  )
})

it('an instant that is not known has two empty cells', () => {
  const { head, line } = csvTable(['id', 'settled_at', 'fee'])
  expect(head + line({ id: 'a', settled_at: null, fee: null })).toBe(
    '\uFEFFid,settled_at,settled_at_iso,fee\r\na,,,\r\n',
  )
})

it.each([
  ['a\n=1+1', "a\n'=1+1"],
  ['a\r=1+1', "a\r'=1+1"],
  ['a\r\n=1+1', "a\r\n'=1+1"],
  ['a;=1+1', "a;'=1+1"],
  ['a\t=1+1', "a\t'=1+1"],
  ['a; \t@x', "a; \t'@x"],
  ['a;"+1', `a;""'+1`],
  ['a;＝1+1;-1', "a;'＝1+1;'-1"],
  ['a; b', 'a; b'],
])(
  'the CSV cell %j is safe even in a spreadsheet that splits it at a semicolon, tab or line break',
  (nickname, cell) => {
    const body = toCsv({ ...member, nickname })
    expect(body).toContain(`\r\n7,"${cell}",a***n`)
  },
)

it.each(['Ann', 'Bob 2', 'a=b', 'x@y', '5th', '', 'a,"b"', 'née', '👍', '2026-01-02'])(
  'a CSV cell with the harmless text %j is unchanged',
  (text) => {
    expect(textCell(text)).toBe(text)
  },
)

it.each(['=1+1', '+1', '-1', '@x', '＝1+1', '=cmd|x'])(
  'a CSV cell with %j is escaped so that no spreadsheet runs it',
  (text) => {
    expect(textCell(text)).toBe(`'${text}`)
  },
)

it.each(['\t', '\r', '\n', '\r\n'])('a formula that follows white space is escaped, too: %j', (space) => {
  expect(textCell(`${space}=1+1`)).toBe(`${space}'=1+1`)
})

it('NUL, which could hide a formula, is removed from a CSV cell', () => {
  expect(textCell('\0=1+1')).toBe("'=1+1")
  expect(textCell('a\0b')).toBe('ab')
})

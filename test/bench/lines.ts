import type { Table } from './table.ts'

/** A figure that the benchmark measured. It must not exceed its limit, `line`. */
interface Line {
  figure: string
  line: number
  /** The figure is the largest value of `column` in `rows`. With `sum`, it is the total of these values. */
  table: string
  column: string
  rows: string[]
  sum?: true
  /** Whether a run with `--short` skips the figure. */
  whole?: true
  /** Whether the figure depends on the machine's speed. If so, a high figure never fails the check. */
  timed?: true
}

const operation = (figure: string, line: number, column: string, ...rows: string[]): Line => ({
  figure,
  line,
  column,
  rows,
  table: 'operations',
})
const signIn = [
  'POST /user/login-with-password, authenticator',
  'POST /user/login/2fa, authenticator',
] as const
const pages = ['all', 'debits', 'currency and type', '1 of 150'].flatMap((filter) =>
  ['newest', 'two dates'].map((period) => `1,000,000, ${filter}, ${period}`),
)
const exports = ['all', 'debits', 'currency and type', '1 of 150'].map((filter) => `1,000,000, ${filter}`)
const keywords = ['a first name', 'half of them', 'nobody'].map((who) => `1,000,000, keyword, ${who}`)
const bundled = [
  ...['account/info', 'account/bills', 'community/members', 'user/login-with-password', 'user/login-2fa'],
  ...['intake/wallet.adjusted', 'intake/user.registered', 'intake/mail.requested'],
]

/** The limits that the service must stay within. */
const lines: Line[] = [
  operation('a further bill, write units', 7, 'write units', 'wallet.adjusted, a further bill'),
  // Read, write, and then tell the sender.
  operation('a further bill, chain of calls', 3, 'chain', 'wallet.adjusted, a further bill'),
  operation('a page of 20 bills, read units', 12, 'read units', 'GET /account/bills, 20 bills'),
  operation('a balance, AWS calls', 1, 'calls', 'GET /account/info'),
  { ...operation('sign-in by authenticator, write units', 9, 'write units', ...signIn), sum: true },
  { ...operation('sign-in by authenticator, KMS requests', 3, 'KMS', ...signIn), sum: true },
  ...(['rounds', 'read units'] as const).flatMap((column): Line[] => [
    {
      figure: `the dearest page of 1,000,000 bills, ${column}`,
      line: column === 'rounds' ? 3 : 12,
      ...{ table: 'growth-bills', column, rows: pages, whole: true },
    },
    {
      figure: `a keyword among 1,000,000 members, ${column}`,
      line: column === 'rounds' ? 8 : 2_700,
      ...{ table: 'growth-members', column, rows: keywords, whole: true },
    },
  ]),
  {
    figure: 'the dearest export of 1,000,000 bills, read units',
    line: 5_100,
    ...{ table: 'growth-exports', column: 'read units', rows: exports, whole: true },
  },
  {
    figure: 'the slowest export of 1,000,000 bills, milliseconds',
    line: 3_000,
    ...{ table: 'growth-exports', column: 'milliseconds', rows: exports, whole: true, timed: true },
  },
  // If a newcomer takes at most 5 ms and 5 write units, a referral tree can grow by 200 members a second.
  ...['ms each', 'its units each'].map((column) => ({
    figure: `a newcomer in one tree, ${column}`,
    line: 5,
    ...{ table: 'growth-tree', column, rows: ['a newcomer'] },
  })),
  { figure: 'the largest of eight bundles, KB', line: 265, table: 'bundles', column: 'KB', rows: bundled },
  {
    figure: 'init and first answer at 256 MB, × default',
    line: 0.3,
    ...{ table: 'cold-starts', column: '× default', rows: ['as deployed, 256 MB'], whole: true, timed: true },
  },
]

/** Compares a run's figures with their limits. `broken` lists figures that are too high or missing. */
export function checkLines(tables: readonly Table[], short: boolean): { table: Table; broken: string[] } {
  const rows = lines.map(({ figure, line, ...of }) => {
    const found = tables.find(({ name }) => name === of.table)
    const values = of.rows.map(
      (name) => found?.rows.find((row) => Object.values(row)[0] === name)?.[of.column],
    )
    const measured = values.filter((value) => typeof value === 'number')
    const isWhole = measured.length === values.length
    const now = of.sum ? measured.reduce((sum, value) => sum + value, 0) : Math.max(...measured)
    const missing = found === undefined || (short && of.whole) ? 'not measured' : 'MISSING'
    const above = of.timed ? 'above' : 'BROKEN'
    return {
      figure,
      now: isWhole ? now : undefined,
      line,
      state: !isWhole ? missing : now <= line ? 'kept' : above,
    }
  })
  const title = 'Figures and their lines'
  return {
    table: { name: 'lines', title, notes: [], rows },
    broken: rows.filter(({ state }) => /^[A-Z]+$/.test(state)).map(({ figure }) => figure),
  }
}

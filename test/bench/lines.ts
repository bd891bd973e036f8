import type { Table } from './report/table.ts'

/**
 * A figure that may not be above its line. Once a line is reached it stays reached: `npm run bench --
 * --check` fails when it is broken. One that is not reached yet is only shown.
 */
export interface Line {
  figure: string
  line: number
  reached: boolean
  /** Whether the figure depends on the machine's speed, so that it is shown but never fails the check. */
  timed?: true
  /** Whether only a run with the whole data measures it. */
  whole?: true
  now: (find: Find) => number | undefined
}

/** Finds the figure of a row; undefined if this run did not measure it. */
type Find = (table: string, row: string, column: string) => number | undefined

/** Reads one figure. */
const cell =
  (table: string, row: string, column: string): Line['now'] =>
  (find) =>
    find(table, row, column)

/** Combines figures; undefined if the run did not measure them all. */
const over =
  (combine: (values: number[]) => number, figures: readonly Line['now'][]): Line['now'] =>
  (find) => {
    const values = figures.map((figure) => figure(find))
    return values.includes(undefined) ? undefined : combine(values as number[])
  }
const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
const largest = (values: number[]): number => Math.max(...values)

const ofSignIn = (column: string): Line['now'] =>
  over(
    sum,
    ['POST /user/login-with-password, authenticator', 'POST /user/login/2fa, authenticator'].map((row) =>
      cell('operations', row, column),
    ),
  )

/** The dearest page of a wallet of this size, of every filter and period. */
const ofPages = (size: string, column: string): Line['now'] =>
  over(
    largest,
    ['all', 'currency and type'].flatMap((filter) =>
      [0, 1, 2].map((dates) => cell('growth-bills', `${size}, ${filter}, ${dates} dates`, column)),
    ),
  )

/** The dearest search in a downline of this size. */
const ofSearches = (size: string, column: string): Line['now'] =>
  over(
    largest,
    ['a first name', 'half of them', 'nobody'].map((keyword) =>
      cell('growth-members', `${size}, keyword, ${keyword}`, column),
    ),
  )

/** Endpoints that only read what is the caller's own, as often as a dashboard is looked at. */
const signedInReads = [
  'GET /account/info',
  'GET /account/bills, 20 bills',
  'GET /account/asset',
  'GET /bonus-account/info',
  'GET /dashboard/overview',
  'GET /deposit/get/{id}',
]

const bundle = (entry: string): Line => ({
  figure: `bundle of ${entry}, KB`,
  line: 265,
  reached: true,
  now: cell('bundles', entry, 'KB'),
})

/** The lines, each with whether it is reached. Whoever reaches one sets that here, or makes it tighter. */
const lines: Line[] = [
  {
    figure: 'a further bill, write units',
    line: 10,
    reached: true,
    now: cell('operations', 'wallet.adjusted, a further bill', 'write units'),
  },
  {
    figure: 'a further bill, chain of calls',
    line: 2,
    reached: true,
    now: cell('operations', 'wallet.adjusted, a further bill', 'chain'),
  },
  {
    figure: 'a further bill, items kept: copies and event key',
    line: 3,
    reached: true,
    now: cell('operations', 'wallet.adjusted, a further bill', 'kept items'),
  },
  {
    figure: 'a page of 20 bills, chain of calls',
    line: 3,
    reached: true,
    now: cell('operations', 'GET /account/bills, 20 bills', 'chain'),
  },
  {
    figure: 'a page of 20 bills, read units',
    line: 12,
    reached: true,
    now: cell('operations', 'GET /account/bills, 20 bills', 'read units'),
  },
  { figure: 'sign-in by authenticator, write units', line: 10, reached: true, now: ofSignIn('write units') },
  { figure: 'sign-in by authenticator, KMS requests', line: 3, reached: true, now: ofSignIn('KMS') },
  {
    figure: 'the dearest signed-in read, × the floor price',
    line: 1.1,
    reached: false,
    now: over(
      largest,
      signedInReads.map((row) => cell('operations', row, '× floor')),
    ),
  },
  {
    figure: 'a balance, AWS calls',
    line: 1,
    reached: true,
    now: cell('operations', 'GET /account/info', 'calls'),
  },
  {
    figure: 'the dearest page of 1,000,000 bills, rounds',
    line: 3,
    reached: true,
    whole: true,
    now: ofPages('1,000,000', 'rounds'),
  },
  {
    figure: 'the dearest page of 1,000,000 bills, read units',
    line: 12,
    reached: true,
    whole: true,
    now: ofPages('1,000,000', 'read units'),
  },
  {
    figure: 'a keyword among 1,000 members, rounds',
    line: 3,
    reached: true,
    whole: true,
    now: ofSearches('1,000', 'rounds'),
  },
  {
    figure: 'a keyword among 1,000,000 members, rounds',
    line: 3,
    reached: true,
    whole: true,
    now: ofSearches('1,000,000', 'rounds'),
  },
  {
    figure: 'a keyword among 1,000,000 members, read units',
    line: 500,
    reached: true,
    whole: true,
    now: ofSearches('1,000,000', 'read units'),
  },
  ...['3,000', '20,000'].flatMap((size) =>
    [
      { what: 'a newcomer', perSecond: 500 },
      { what: 'a purchase', perSecond: 2_000 },
    ].flatMap(({ what, perSecond }): Line[] => {
      const row = `${size} members, ${what}`
      const reached = { reached: true, ...(size === '3,000' ? {} : { whole: true as const }) }
      return [
        {
          figure: `${what} in one tree of ${size}, ms at 5 ms a call`,
          line: 1_000 / perSecond,
          ...reached,
          now: cell('growth-tree', row, 'ms each'),
        },
        {
          figure: `${what} in one tree of ${size}, write units of the busiest partition`,
          line: 1_000 / perSecond,
          ...reached,
          now: cell('growth-tree', row, 'its units each'),
        },
      ]
    }),
  ),
  bundle('account/info'),
  bundle('account/bills'),
  bundle('community/members'),
  bundle('user/login-with-password'),
  bundle('user/login-2fa'),
  bundle('intake/wallet.adjusted'),
  bundle('intake/user.registered'),
  bundle('intake/mail.requested'),
  {
    figure: 'init and first answer at 256 MB, × default',
    line: 0.3,
    reached: true,
    timed: true,
    now: cell('cold-starts', 'as deployed, 256 MB', '× default'),
  },
  {
    figure: 'check of a password, CPU ms',
    line: 25,
    reached: true,
    timed: true,
    now: cell('password-sign-in', 'this service, the password alone', 'CPU ms'),
  },
  {
    figure: 'npm start to ready, warm clone, ms',
    line: 3_000,
    reached: true,
    timed: true,
    now: cell('start', 'npm start, warm clone', 'ready ms'),
  },
]

/** Compares a run with the lines, and lists those that were reached and are broken. */
export function checkLines(tables: readonly Table[]): { table: Table; broken: string[] } {
  const rows = lines.map((line) => {
    let hasTable = false
    const now = line.now((name, row, column) => {
      const table = tables.find((one) => one.name === name)
      hasTable ||= table !== undefined
      const found = table?.rows.find((cells) => Object.values(cells)[0] === row)?.[column]
      return typeof found === 'number' ? found : undefined
    })
    return { figure: line.figure, now, line: line.line, state: stateOf(line, now, hasTable) }
  })
  return {
    table: {
      name: 'lines',
      title: 'Figures and their lines',
      notes: ['An open line is not reached yet. A broken or missing one makes `--check` fail.'],
      rows,
    },
    broken: rows.filter(({ state }) => /^[A-Z]+$/.test(state)).map(({ figure }) => figure),
  }
}

/** A figure that was reached and is in no row of its table any more would otherwise go unchecked. */
function stateOf({ line, reached, timed, whole }: Line, now: number | undefined, hasTable: boolean): string {
  if (now !== undefined) return now <= line ? 'kept' : reached && timed !== true ? 'BROKEN' : 'open'
  return hasTable && reached && whole !== true ? 'MISSING' : 'not measured'
}

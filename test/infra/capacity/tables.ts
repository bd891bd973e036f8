import { levels, mix, type OperationName, operations, perSignIn } from './operations.ts'
import { dollarsPerMillion, prices } from './prices.ts'
import { quotas, shareOf } from './quotas.ts'

const row = (cells: (string | number)[]): string => `| ${cells.join(' | ')} |`
/** Columns of figures stand to the right. */
function table(heads: string[], rows: (string | number)[][]): string {
  const rules = heads.map((_, column) =>
    rows.every((cells) => /^[$*]*\d/.test(String(cells[column]))) ? '---:' : '---',
  )
  return [heads, rules, ...rows].map(row).join('\n')
}

const round = (value: number, digits = 2): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: Math.max(digits, 1) })

const secondsOfMonth = 30 * 86_400
const names = Object.keys(operations) as OperationName[]

function units(): string {
  const heads = [
    'Operation',
    'DynamoDB calls',
    'read units',
    'write units',
    'RSA',
    'symmetric',
    '$ a million',
  ]
  const rows = names.map((name) => {
    const operation = operations[name]
    const { title, calls, readUnits, writeUnits, signatures, symmetric } = operation
    const dollars = dollarsPerMillion(operation).toFixed(2)
    return [title, calls, readUnits, writeUnits, signatures, symmetric, dollars]
  })
  return table(heads, rows)
}

function load(): string {
  const heads = ['For one sign-in', ...levels.map((level) => `at ${round(level, 7)} a minute`)]
  const line = (what: string, amount: number, unit: string) => [
    `${what} ${round(amount, 3)}`,
    ...levels.map((level) => `${round((level / 60) * amount, 3)} ${unit}`),
  ]
  const dollars = names.reduce((sum, name) => sum + mix[name] * dollarsPerMillion(operations[name]), 0) / 1e6
  const mailless = dollars - (perSignIn(({ mails }) => mails) * prices.mail.perMillion) / 1e6
  const money = (what: string, amount: number) => [
    `${what} $${round(amount, 3)}`,
    ...levels.map((level) => `$${round((level / 60) * amount * secondsOfMonth, 3)} a month`),
  ]
  return table(heads, [
    line(
      'requests',
      perSignIn(({ requests }) => requests),
      '/s',
    ),
    line(
      'read units',
      perSignIn(({ readUnits }) => readUnits),
      '/s',
    ),
    line(
      'write units',
      perSignIn(({ writeUnits }) => writeUnits),
      '/s',
    ),
    line(
      'RSA signatures',
      perSignIn(({ signatures }) => signatures),
      '/s',
    ),
    line(
      'events',
      perSignIn(({ events }) => events),
      '/s',
    ),
    line(
      'mails',
      perSignIn(({ mails }) => mails),
      '/s',
    ),
    money('all of it', dollars),
    money('without mails', mailless),
  ])
}

function limits(): string {
  const heads = ['Quota', 'Default', ...levels.map((level) => `at ${round(level, 7)} a minute`), 'binds at']
  const rows = quotas.map((quota) => {
    const shares = levels.map((level) => {
      const share = shareOf(quota, level)
      return share >= 1 ? `**${round(share)}×**` : `${round(100 * share)} %`
    })
    const daily = quota.name.endsWith('a day')
    return [
      quota.name,
      daily ? '50,000 a day' : round(quota.limit, 6),
      ...shares,
      `${round(1 / shareOf(quota, 1))} a minute`,
    ]
  })
  return table(heads, rows)
}

const mixTable = (): string =>
  table(
    ['For one sign-in', 'times'],
    names.map((name) => [operations[name].title, mix[name]]),
  )

const priceTable = (): string =>
  table(
    ['A million', '$', 'Page'],
    Object.values(prices).map(({ what, perMillion, page }) => [what, round(perMillion, 6), page]),
  )

const sourceTable = (): string =>
  table(
    ['Quota', 'Document'],
    quotas.map(({ name, source }) => [name, source]),
  )

const tables: Record<string, () => string> = {
  units,
  load,
  limits,
  mix: mixTable,
  prices: priceTable,
  sources: sourceTable,
}

/** The paper with each of its tables, between `<!-- table NAME -->` and `<!-- end -->`, computed anew. */
export const fillTables = (paper: string): string =>
  paper.replaceAll(
    /(<!-- table (\w+) -->\n).*?(<!-- end -->)/gs,
    (_all, start: string, name: string, end: string) => {
      const make = tables[name]
      if (make === undefined) throw new Error(`there is no table ${name}`)
      return `${start}\n${make()}\n\n${end}`
    },
  )

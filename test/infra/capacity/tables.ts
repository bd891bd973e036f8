import { signInsPerMinute, mix, type OperationName, operations, totalPerSignIn } from './workload.ts'
import { dollarsPerMillion, prices } from './prices.ts'
import { quotas, shareOf } from './quotas.ts'

const row = (cells: (string | number)[]): string => `| ${cells.join(' | ')} |`
/** Formats a Markdown table whose columns of numbers are right-aligned. */
function table(head: string[], rows: (string | number)[][]): string {
  const rules = head.map((_, column) =>
    rows.every((cells) => /^[$*]*\d/.test(String(cells[column]))) ? '---:' : '---',
  )
  return [head, rules, ...rows].map(row).join('\n')
}

const round = (value: number, digits = 2): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: Math.max(digits, 1) })

const secondsPerMonth = 30 * 86_400
const names = Object.keys(operations) as OperationName[]

function unitsTable(): string {
  const head = [
    'Operation',
    'DynamoDB calls',
    'read units',
    'write units',
    'RSA signatures',
    'symmetric KMS requests',
    '$ per million',
  ]
  const rows = names.map((name) => {
    const operation = operations[name]
    const { title, calls, readUnits, writeUnits, signatures, symmetric } = operation
    const dollars = dollarsPerMillion(operation).toFixed(2)
    return [title, calls, readUnits, writeUnits, signatures, symmetric, dollars]
  })
  return table(head, rows)
}

const loadColumns = signInsPerMinute.map((load) => `at ${round(load, 7)} per minute`)

function loadTable(): string {
  const head = ['Per sign-in', ...loadColumns]
  const line = (what: string, amount: number, unit: string) => [
    `${what} ${round(amount, 3)}`,
    ...signInsPerMinute.map((load) => `${round((load / 60) * amount, 3)} ${unit}`),
  ]
  const dollars = names.reduce((sum, name) => sum + mix[name] * dollarsPerMillion(operations[name]), 0) / 1e6
  const mailless = dollars - (totalPerSignIn(({ mails }) => mails) * prices.mail.perMillion) / 1e6
  const money = (what: string, amount: number) => [
    `${what} $${round(amount, 3)}`,
    ...signInsPerMinute.map((load) => `$${round((load / 60) * amount * secondsPerMonth, 3)} per month`),
  ]
  return table(head, [
    line(
      'requests',
      totalPerSignIn(({ requests }) => requests),
      '/s',
    ),
    line(
      'read units',
      totalPerSignIn(({ readUnits }) => readUnits),
      '/s',
    ),
    line(
      'write units',
      totalPerSignIn(({ writeUnits }) => writeUnits),
      '/s',
    ),
    line(
      'RSA signatures',
      totalPerSignIn(({ signatures }) => signatures),
      '/s',
    ),
    line(
      'events',
      totalPerSignIn(({ events }) => events),
      '/s',
    ),
    line(
      'mails',
      totalPerSignIn(({ mails }) => mails),
      '/s',
    ),
    money('total', dollars),
    money('without mails', mailless),
  ])
}

function limitsTable(): string {
  const head = ['Quota', 'Default', ...loadColumns, 'reached at']
  const rows = quotas.map((quota) => {
    const shares = signInsPerMinute.map((load) => {
      const share = shareOf(quota, load)
      return share >= 1 ? `**${round(share)}×**` : `${round(100 * share)} %`
    })
    const daily = quota.name.endsWith('per day')
    return [
      quota.name,
      daily ? '50,000 per day' : round(quota.limit, 6),
      ...shares,
      `${round(1 / shareOf(quota, 1))} per minute`,
    ]
  })
  return table(head, rows)
}

const mixTable = (): string =>
  table(
    ['Operation', 'per sign-in'],
    names.map((name) => [operations[name].title, mix[name]]),
  )

const priceTable = (): string =>
  table(
    ['Unit', '$ per million', 'AWS web page'],
    Object.values(prices).map(({ unit, perMillion, page }) => [unit, round(perMillion, 6), page]),
  )

const sourceTable = (): string =>
  table(
    ['Quota', 'Document'],
    quotas.map(({ name, source }) => [name, source]),
  )

const tables: Record<string, () => string> = {
  units: unitsTable,
  load: loadTable,
  limits: limitsTable,
  mix: mixTable,
  prices: priceTable,
  sources: sourceTable,
}

/** Recomputes every table between `<!-- table NAME -->` and `<!-- end -->` in a document. */
export const fillTables = (document: string): string =>
  document.replaceAll(
    /(<!-- table (\w+) -->\n).*?(<!-- end -->)/gs,
    (_all, start: string, name: string, end: string) => {
      const make = tables[name]
      if (make === undefined) throw new Error(`there is no table ${name}`)
      return `${start}\n${make()}\n\n${end}`
    },
  )

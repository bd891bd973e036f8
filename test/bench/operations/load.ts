import type { Row, Table } from '../table.ts'
import { round } from '../table.ts'

/** Assumed number of each operation per sign-in; to be replaced by the real numbers of a deployment. */
const mix: Record<string, number> = {
  'POST /user/login-with-password, authenticator': 1,
  'mail.requested': 0.5,
  'mail.delayed, not needed': 0.5,
  'POST /user/login/2fa, authenticator': 1,
  'GET /oauth2/authorize': 0.2,
  'POST /oauth2/authorize/consent': 0.2,
  'POST /oauth2/token': 0.2,
  'POST /oauth2/authorize': 0.1,
  'GET /account/info': 6,
  'GET /account/bills, 20 bills': 2,
  'GET /dashboard/overview': 2,
  'wallet.adjusted, the first bill': 0.1,
  'wallet.adjusted, a further bill': 0.9,
}

/** The sizes that infra/CAPACITY.md describes, in users who sign in once a day. */
const sizes = [1_000, 10_000, 100_000, 1_000_000]
/** How many times its average a load is assumed to be at its peak. */
const peak = 3

/** The loads that infra/CAPACITY.md describes, in sign-ins per minute. */
const loads = [10, 10_000, 1_000_000]
const secondsPerMonth = 30 * 86_400

/** Quotas of AWS and of this service. `of` names what is limited. `limit` is its maximum per second. */
const quotas: [name: string, limit: number, of: string, source: string][] = [
  [
    'SES, mails a day',
    50_000 / 86_400,
    'mails',
    'Managing your sending limits (outside the sandbox, at first)',
  ],
  ['SES, mails', 14, 'mails', 'as above'],
  ['DynamoDB, write units of a new table', 4_000, 'write units', 'DynamoDB warm throughput'],
  ['DynamoDB, read units of a new table', 12_000, 'read units', 'DynamoDB warm throughput'],
  ['KMS, RSA operations', 1_000, 'signatures', 'KMS request quotas'],
  ['KMS, symmetric operations', 10_000, 'symmetric', 'KMS request quotas'],
  ['throttle of POST /user/login-with-password', 1_000, 'sign-ins', '`throttleRate` (infra/config.ts)'],
  ['API Gateway, requests', 10_000, 'requests', 'API Gateway quotas'],
  ['DynamoDB, write units of a table', 40_000, 'write units', 'DynamoDB quotas'],
  ['EventBridge, PutEvents', 10_000, 'events', 'EventBridge quotas, us-east-1'],
]

/** Adds up the resources that all operations in `mix` use per sign-in. */
function perSignIn(rows: readonly Row[]): Map<string, number> {
  const total = new Map([['sign-ins', 1]])
  const add = (name: string, amount: number) => total.set(name, (total.get(name) ?? 0) + amount)
  for (const [title, times] of Object.entries(mix)) {
    const row = rows.find(({ operation }) => operation === title)
    if (row === undefined) throw new Error(`there is no operation ${title}`)
    add(/^(GET|POST)/.test(title) ? 'requests' : 'events', times)
    const names = ['read units', 'write units', 'KMS', 'signatures', 'mails', 'kept bytes', '$ per million']
    for (const name of names) add(name, times * Number(row[name]))
    add('symmetric', times * (Number(row['KMS']) - Number(row['signatures'])))
  }
  return total
}

/** For each size, shows its load at the peak, dollars, what it stores, and the quotas that it exceeds. */
export function describeSizes(operations: readonly Row[]): Table {
  const total = perSignIn(operations)
  const of = (name: string) => total.get(name) ?? 0
  const reached = describeQuotas(operations).rows
  const rows = sizes.map((users) => {
    const signInsAtPeak = (users / 1440) * peak
    const met = reached.filter((row) => Number(row['reached at sign-ins a minute']) <= signInsAtPeak)
    return {
      'users a day': users,
      'requests a second, at the peak': round((signInsAtPeak / 60) * of('requests'), 2),
      'dollars a month': round((users * 30 * of('$ per million')) / 1e6, 2),
      'GB more each year': round((users * 365 * of('kept bytes')) / 1e9, 2),
      'quotas to raise': met.map(({ quota }) => quota).join('; ') || 'none',
    }
  })
  return { name: 'sizes', title: 'What a stage costs by its users', notes: [], rows }
}

/** For each load, shows requests, events, mails and request units per second, and dollars per month. */
export function describeLoad(operations: readonly Row[]): Table {
  const total = perSignIn(operations)
  const row = (what: string, amount: number, times: number, unit: string): Row => ({
    what: `${what}, ${unit}`,
    'a sign-in': round(amount, 3),
    ...Object.fromEntries(
      loads.map((load) => [
        `at ${load.toLocaleString('en-US')} a minute`,
        round((load / 60) * amount * times, 3),
      ]),
    ),
  })
  const names = ['requests', 'events', 'mails', 'read units', 'write units', 'KMS', 'signatures']
  const dollars = (total.get('$ per million') ?? 0) / 1e6
  return {
    name: 'load',
    title: 'Load',
    notes: [],
    rows: [
      ...names.map((name) => row(name, total.get(name) ?? 0, 1, 'a second')),
      row('dollars', dollars, secondsPerMonth, 'a month'),
    ],
  }
}

/** The number of sign-ins a minute at which each quota is reached, in ascending order. */
export function describeQuotas(operations: readonly Row[]): Table {
  const total = perSignIn(operations)
  const rows = quotas
    .map(([quota, limit, of, source]) => ({
      quota,
      'a second': round(limit, 3),
      'reached at sign-ins a minute': round((60 * limit) / (total.get(of) ?? 0), 2),
      document: source,
    }))
    .sort((a, b) => a['reached at sign-ins a minute'] - b['reached at sign-ins a minute'])
  return { name: 'quotas', title: 'Which quota is reached first', notes: [], rows }
}

import { endpointFunctions } from '../endpoint-functions.ts'
import { events } from '../events.ts'
import { endpointName, eventName } from '../names.ts'
import { type Permissions, tableStatements } from '../permissions.ts'
import { schedules, workers } from '../workers-and-schedules.ts'
import { markdownTable } from './markdown.ts'

const reads = ['GetItem']
const puts = ['PutItem']
const writes = ['PutItem', 'DeleteItem']

/** Lists the DynamoDB partitions on which a function may perform at least one of the given actions. */
export const partitions = (permissions: Permissions, any: string[]): string[] =>
  tableStatements(permissions).flatMap(({ actions, keys }) =>
    any.some((one) => actions.includes(one)) ? keys : [],
  )

const on =
  (actions: string[], partition: RegExp) =>
  (permissions: Permissions): boolean =>
    partitions(permissions, actions).some((name) => partition.test(name))

/** What an attacker could do with a captured function, and which permissions this takes. */
const powers: [what: string, has: (permissions: Permissions) => unknown][] = [
  ['issue tokens for any user', on(puts, /^TOKENS#/)],
  ['read and change what signs a user in', on(puts, /^SIGNIN#/)],
  ['read password digests and encrypted TOTP secrets', on(reads, /^SIGNIN#/)],
  ['publish keys in the JWKS', on(puts, /^KEYS/)],
  ['sign tokens', ({ signingKeys }) => signingKeys === 'sign' || signingKeys === 'manage'],
  ['create, disable and delete signing keys', ({ signingKeys }) => signingKeys === 'manage'],
  ['move money', on(puts, /^W#/)],
  ['register clients', on(puts, /^CLIENT#/)],
  ['issue authorization codes', on(puts, /^CODE#/)],
  ['take addresses from users', on(puts, /^EMAIL#/)],
  ['change rates', on(puts, /^RATES/)],
  ['give out deposit addresses', on(puts, /^ADDRS?#/)],
  ['end sessions', on(writes, /^(TOKENS|ENDED)#/)],
  ['decrypt TOTP secrets that it knows', ({ totpKey }) => totpKey?.includes('Decrypt')],
  ['test passwords, client secrets or events against their MAC', ({ macKey }) => macKey],
  ['mail anyone as the service', ({ mail }) => mail],
  [
    'have a code or a warning mailed to anyone',
    ({ publish = [] }) => publish.some((name) => name.startsWith('mail.')),
  ],
  ['read names and addresses of users', on(reads, /^(USER|MEMBER|TEXT|FIND|EMAIL)#/)],
  ['read balances or bills', on(reads, /^(W|BL|BX)#/)],
  ['read deposits, earnings or devices', on(reads, /^(DEP|DL|EARN|DEVICE)#/)],
]

/** Markdown table of what an attacker could do with each function's permissions. */
export function describeReach(): string {
  const functions = [
    ...endpointFunctions().map(({ entry, permissions }) => [endpointName(entry), permissions] as const),
    ...events.map(({ detailType, permissions }) => [`intake-${eventName(detailType)}`, permissions] as const),
    ...workers.map(({ name, permissions }) => [`worker-${name}`, permissions] as const),
    ...schedules.map(({ name, permissions }) => [name, permissions] as const),
  ]
  const rows = functions
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, permissions]) => [
      code([name]),
      powers
        .filter(([, has]) => Boolean(has(permissions)))
        .map(([what]) => what)
        .join('; ') || '–',
      code(partitions(permissions, reads)),
      code(partitions(permissions, writes)),
    ])
  return markdownTable(['function', 'captured, it could', 'reads', 'writes'], rows)
}

const code = (names: string[]): string => names.map((name) => `\`${name}\``).join(' ')

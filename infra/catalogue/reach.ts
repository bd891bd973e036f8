import { type Partition, partitions as allPartitions } from '../../shared/db/partitions.ts'
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
  (actions: string[], ...wanted: Partition[]) =>
  (permissions: Permissions): boolean =>
    partitions(permissions, actions).some((name) => wanted.some((one) => name.startsWith(one)))

/** What an attacker could do with a captured function, and which permissions this takes. */
const powers: [what: string, has: (permissions: Permissions) => unknown][] = [
  ['issue tokens for any user', on(puts, 'TOKENS#')],
  ['change what signs a user in', on(puts, 'SIGNIN#')],
  ['publish keys in the JWKS', on(puts, 'KEYS')],
  ['sign tokens', ({ signingKeys }) => signingKeys === 'sign' || signingKeys === 'manage'],
  ['create, disable and delete signing keys', ({ signingKeys }) => signingKeys === 'manage'],
  ['move money', on(puts, 'W#')],
  ['register clients', on(puts, 'CLIENT#')],
  ['issue authorization codes for whoever calls it meanwhile', on(puts, 'CODE#')],
  ['take addresses from users', on(puts, 'EMAIL#')],
  ['change rates', on(puts, 'RATES')],
  ['give out deposit addresses', on(puts, 'ADDR#', 'ADDRS#')],
  ['end sessions', on(writes, 'TOKENS#', 'ENDED#')],
  ['test passwords, client secrets or events against their MAC', ({ macKey }) => macKey],
  ['mail anyone as the service', ({ mail }) => mail],
  [
    'have a code or a warning mailed to anyone',
    ({ publish = [] }) => publish.some((name) => name.startsWith('mail.')),
  ],
]

const nothing = undefined

/**
 * What an attacker could learn from each partition. None can be turned into a session, a ticket or a code:
 * the table has digests of tokens, tickets and codes, and of a session's token the digest of its digest.
 * `nothing` is what is public, or a digest or MAC of what nobody can guess.
 */
const knowledge: Record<Partition, string | undefined> = {
  'ADDR#': 'learn whose a deposit address is',
  'ADDRS#': 'learn whose a deposit address is',
  'BL#': 'learn balances or bills',
  'BX#': 'learn balances or bills',
  'CLIENT#': nothing,
  'CODE#': nothing,
  'DEP#': 'learn deposits',
  'DEVICE#': 'learn earnings or devices',
  'DIR#': 'learn names of users, and who referred whom',
  'DL#': 'learn deposits',
  'EARN#': 'learn earnings or devices',
  'EMAIL#': 'learn names and addresses of users',
  'ENDED#': nothing,
  'EVT#': nothing,
  'GUESS#': 'learn from where passwords were tried',
  KEYS: nothing,
  'MEMBER#': 'learn names and addresses of users',
  'NOTE#': 'learn notes',
  'POOL#': nothing,
  RATES: nothing,
  'SEARCH#': nothing,
  'SIGNIN#': 'learn names and addresses of users',
  'TEAM#': 'learn names of users, and who referred whom',
  'TOKENS#': 'learn who is signed in, but act as nobody',
  'TREE#': 'learn who referred whom',
  'USER#': 'learn names and addresses of users',
  VERIFICATION: nothing,
  'W#': 'learn balances or bills',
  'WD#': 'learn withdrawals',
  'WL#': 'learn withdrawals',
}

/** What a KMS key adds to what is read. Without it, digests of passwords and TOTP secrets tell nothing. */
const withKeys: [what: string, has: (permissions: Permissions) => unknown][] = [
  ['guess passwords without a limit', (one) => mayKnow(one, 'SIGNIN#') && one.macKey],
  ['decrypt TOTP secrets', (one) => mayKnow(one, 'SIGNIN#') && one.totpKey?.includes('Decrypt')],
]

const mayKnow = (permissions: Permissions, partition: Partition): boolean =>
  partitions(permissions, [...reads, ...writes]).some((name) => name.startsWith(partition))

/** Lists what an attacker could do with what a function reads, or gets back of what it writes. */
const useOf = (permissions: Permissions): string[] => [
  ...new Set(allPartitions.flatMap((name) => (mayKnow(permissions, name) ? (knowledge[name] ?? []) : []))),
  ...withKeys.flatMap(([what, has]) => (has(permissions) ? [what] : [])),
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
      useOf(permissions).join('; ') || '–',
      code(partitions(permissions, reads)),
      code(partitions(permissions, writes)),
    ])
  return markdownTable(
    ['function', 'captured, it could', 'with what it may read, it could', 'reads', 'writes'],
    rows,
  )
}

const code = (names: string[]): string => names.map((name) => `\`${name}\``).join(' ')

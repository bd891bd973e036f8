import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import { type FieldIn, fieldsIn, type UserChanges, type UserFields } from '../users/identity.ts'
import { splitNetworks } from './limits/source.ts'
import { expiredAttributes, removeAttributes, windowAttributes } from './limits/tries.ts'

/** Name of the counter of wrong second factors over all login tickets. */
export const codeCounter = 'code'

const records = itemType({
  pk: 'SIGNIN#{userId}',
  sk: 'SIGNIN',
  holds:
    'all that a sign-in needs of a user: password hash, TOTP secret, login tickets, counts of wrong tries',
  found: 'by user',
})

const unknownRecords = itemType({
  pk: 'SIGNIN#unknown#{addressHash}',
  sk: 'SIGNIN',
  holds: 'wrong passwords per minute for an email address that no user has',
  found: 'by email address',
})

/** Key of the sign-in record of a user. */
export const signInKey = (userId: number): Key => records.key({ userId })

/** Key of the counts for a normalized email address that no user has, so that it answers like any other. */
export const unknownSignInKey = (normalizedEmail: string): Key =>
  unknownRecords.key({ addressHash: createHash('sha256').update(normalizedEmail).digest('base64url') })

/** A login ticket as stored, under its hash. */
const Ticket = v.object({
  /** Epoch milliseconds. */
  expires_at: Integer,
  /** The tries whose codes were compared, or are being compared, by their ids. */
  tried: v.optional(v.record(v.string(), v.boolean()), {}),
  /** Digest of the code that was mailed for this login ticket; undefined when none was mailed. */
  code: v.optional(v.instance(Uint8Array)),
  /** Digest of the source network that the password came from. */
  network: v.string(),
})

/** What events set of a user, as far as a sign-in needs it. */
const fields = {
  email: v.string(),
  nickname: v.string(),
  /** Undefined for users who cannot sign in by password. */
  login_password: v.optional(v.string()),
  /** Undefined where no authenticator is enrolled. */
  totp_secret: v.optional(v.instance(Uint8Array)),
  passkey: v.boolean(),
  disabled: v.boolean(),
} satisfies Record<FieldIn<'sign-in'>, v.GenericSchema>

/**
 * When the user was told of twenty wrong codes in an hour, of the hundredth in a row, and that no more codes
 * are mailed; epoch milliseconds.
 */
export const warningAttributes = ['warned_at', 'closed_warned_at', 'mails_warned_at'] as const

const RecordItem = v.object({
  ...fields,
  user_id: Integer,
  /** The generation in which the user's sessions begin: see tokens/generation.ts. */
  generation: Integer,
  /** Time step of the last accepted TOTP (RFC 6238 §5.2). */
  last_totp_step: v.optional(Integer),
  /** When each mail slot was last used, epoch milliseconds; slots used over an hour ago are free. */
  mails: v.record(v.string(), Integer),
  /** The login tickets that were not used, by hash. */
  tickets: v.record(v.string(), Ticket),
  /** Digests of the source networks that the user has signed in from, one after another, the latest first. */
  networks: v.instance(Uint8Array),
  /** Wrong second factors in a row, over any time, those included that are being compared. */
  wrong_codes: v.optional(Integer),
  ...v.entriesFromList(warningAttributes, v.optional(Integer)),
})

/** A user's sign-in record. */
export const SignInRecord = v.pipe(
  v.looseObject(RecordItem.entries),
  v.transform((item) => ({
    userId: item.user_id,
    generation: item.generation,
    email: item.email,
    nickname: item.nickname,
    loginPassword: item.login_password,
    totpSecret: item.totp_secret,
    lastTotpStep: item.last_totp_step,
    passkey: item.passkey,
    disabled: item.disabled,
    mails: item.mails,
    tickets: item.tickets,
    networks: splitNetworks(item.networks),
    wrongCodes: item.wrong_codes ?? 0,
    /** The item, whose attributes count tries: see try-counts.ts. */
    item,
  })),
)
export type SignInRecord = v.InferOutput<typeof SignInRecord>

/** Stands in for the record of an address that nobody has, so that parsing it takes as long. */
const blankItem: Item = {
  user_id: { value: '0' },
  generation: { value: '0' },
  email: 'nobody@example.com',
  nickname: 'nobody',
  login_password: '',
  totp_secret: new Uint8Array(),
  passkey: false,
  disabled: false,
  mails: {},
  tickets: {},
  networks: new Uint8Array(),
}

/** Parses a user's sign-in record; undefined for the item of an address that nobody has. */
export function toSignInRecord(item: Item): SignInRecord | undefined {
  const isUser = item['user_id'] !== undefined
  const record = v.parse(SignInRecord, isUser ? item : blankItem)
  return isUser ? record : undefined
}

/** Reads the sign-in record of a user, strongly consistent; undefined if there is none. */
export async function readSignInRecord(userId: number): Promise<SignInRecord | undefined> {
  const item = await readItem(signInKey(userId), { consistent: true })
  return item && toSignInRecord(item)
}

/** The write that adds the sign-in record of a new user; it fails if the user has one. */
export const putSignInRecord = (
  userId: number,
  registered: Pick<UserFields, 'email' | 'nickname'> & UserChanges,
): Write =>
  putNew({
    ...signInKey(userId),
    ...Object.fromEntries(fieldsIn('sign-in', { passkey: false, disabled: false, ...registered })),
    user_id: userId,
    generation: 0,
    mails: {},
    tickets: {},
    networks: new Uint8Array(),
  })

/**
 * The write that changes fields of a sign-in record, for the transaction that changes the user. A new
 * password, TOTP secret or `disabled` ends every login ticket, so that no sign-in that began before it
 * completes; `endsSessions` begins a new generation. A new password or TOTP secret also clears the count of
 * wrong codes: they were tried with the old one, and must not lock out the user who has just replaced it.
 */
export function changeSignInRecord(
  userId: number,
  changes: UserChanges,
  now: number,
  { endsSessions }: { endsSessions: boolean },
): Write {
  const changed = fieldsIn('sign-in', changes)
  const { login_password, totp_secret, disabled } = changes
  const isNewSecret = login_password !== undefined || totp_secret !== undefined
  const endsTickets = isNewSecret || disabled !== undefined
  const sets = changed.map(([field]) => `${field} = :${field}`)
  const removal = removeAttributes([
    ...(isNewSecret ? [...windowAttributes(codeCounter, now), 'wrong_codes', ...warningAttributes] : []),
    // A new TOTP secret has other codes, so the time steps used up with the old one are valid again.
    ...(totp_secret === undefined ? [] : ['last_totp_step']),
  ])
  return {
    Update: {
      Key: signInKey(userId),
      UpdateExpression: [
        `SET ${[...sets, ...(endsTickets ? ['tickets = :none'] : [])].join(', ')}`,
        removal.clause,
        ...(endsSessions ? ['ADD generation :one'] : []),
      ].join(' '),
      ConditionExpression: 'attribute_exists(pk)',
      ...(removal.clause !== '' && { ExpressionAttributeNames: removal.names }),
      ExpressionAttributeValues: {
        ...Object.fromEntries(changed.map(([field, value]) => [`:${field}`, value])),
        ...(endsTickets && { ':none': {} }),
        ...(endsSessions && { ':one': 1 }),
      },
    },
  }
}

/**
 * Maximum number of live login tickets: from networks that the user has signed in from, from all others, and
 * from each network. A new one replaces the oldest of its kind, so nobody elsewhere ends the owner's.
 */
const maxTickets = { ofKind: 32, ofNetwork: 16 }

type Tickets = [hash: string, ticket: SignInRecord['tickets'][string]][]

/** The tickets that make room for one more from a network; `live` are those alive, the youngest first. */
function replacedTickets(live: Tickets, networks: readonly string[], network: string): Tickets {
  const isKnown = networks.includes(network)
  const ofKind = live.filter(([, ticket]) => networks.includes(ticket.network) === isKnown)
  const ofNetwork = ofKind.filter(([, ticket]) => ticket.network === network)
  return [...ofKind.slice(maxTickets.ofKind - 1), ...ofNetwork.slice(maxTickets.ofNetwork - 1)]
}

/**
 * The part of an update that removes tickets and attributes of a sign-in record, and with them what has
 * expired: tickets, and counts of tries. `newTicketFrom` is the network from which one more is added.
 */
export function removeFromRecord(
  { tickets, networks, item }: SignInRecord,
  now: number,
  also: { newTicketFrom?: string; tickets?: string[]; attributes?: string[] },
): { clause: string; names: Record<string, string> } {
  const { newTicketFrom } = also
  const youngestFirst = Object.entries(tickets).sort(([, a], [, b]) => b.expires_at - a.expires_at)
  const live = youngestFirst.filter(([, { expires_at }]) => expires_at > now)
  const dead = [
    ...youngestFirst.slice(live.length),
    ...(newTicketFrom === undefined ? [] : replacedTickets(live, networks, newTicketFrom)),
  ]
  const hashes = new Set([...dead.map(([hash]) => hash), ...(also.tickets ?? [])])
  const attributes = new Set([...expiredAttributes(item, now), ...(also.attributes ?? [])])
  const ticketNames = [...hashes].map((hash, i) => [`#dead${i}`, hash] as const)
  const attributeNames = [...attributes].map((name, i) => [`#old${i}`, name] as const)
  const paths = [...ticketNames.map(([name]) => `tickets.${name}`), ...attributeNames.map(([name]) => name)]
  return {
    clause: paths.length === 0 ? '' : `REMOVE ${paths.join(', ')}`,
    names: Object.fromEntries([...ticketNames, ...attributeNames]),
  }
}

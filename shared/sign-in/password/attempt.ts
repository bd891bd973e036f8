import { createHash } from 'node:crypto'
import { itemType } from '../../db/item-type.ts'
import { readItems } from '../../db/read.ts'
import type { Item, Key } from '../../db/table.ts'
import { emitMetric } from '../../emit-metric.ts'
import { Failure } from '../../errors.ts'
import { log } from '../../log.ts'
import { emailKey, emailOwner } from '../../users/identity.ts'
import {
  giveBackSourceTry,
  guessSource,
  networkDigest,
  reserveSourceTry,
  secondsUntilAllowed,
  type Source,
  sourceNetwork,
} from '../limits/source.ts'
import {
  countTries,
  giveBackTry,
  removeExpiredCounts,
  reserveTry,
  secondsUntilBelow,
} from '../limits/tries.ts'
import { type SignInRecord, signInKey, toSignInRecord } from '../record.ts'

/**
 * Maximum number of wrong passwords for an account in an hour, from all sources. At the limit, only networks
 * where the user has signed in can try, so that nobody can lock the user out.
 */
const maxAccountTries = 100

const unknownRecords = itemType({
  pk: 'SIGNIN#unknown#{addressHash}',
  sk: 'SIGNIN',
  holds: 'wrong passwords per minute for an email address that no user has',
  found: 'by email address',
})

/** Key of the item that counts tries for an address that no user has. The same limits hold as for users. */
export const unknownSignInKey = (normalizedEmail: string): Key =>
  unknownRecords.key({ addressHash: createHash('sha256').update(normalizedEmail).digest('base64url') })

/** A password try that has already been counted, so its password may now be compared. */
export interface PasswordAttempt {
  /** Normalized email address of the request. */
  address: string
  /** When the try was counted, epoch milliseconds. */
  at: number
  /** The user of this address; undefined if nobody has it. */
  record: SignInRecord | undefined
  source: Source
  /** Digest of the source network. */
  network: string
  /** The item that counts the tries of the source network, including the current try. */
  sourceItem: Item
  /** Key of `item`, which counts the account's tries from all sources, this try included. */
  key: Key
  item: Item
  /** Whether the user has signed in from this network before. */
  isKnownSource: boolean
}

/**
 * Counts a password try for its source and its account. Call this before comparing the password, or
 * simultaneous tries could together exceed a limit. At a limit, throws `too_many_requests` and counts
 * nothing. Makes the same calls for an email address that no user has.
 */
export async function reserveAttempt(
  address: string,
  sourceIp: string,
  now: number,
): Promise<PasswordAttempt> {
  const network = sourceNetwork(sourceIp)
  const source = guessSource(network, address)
  const [emailItem, known] = await readItems([emailKey(address), source.key], { consistent: true })
  const userId = emailOwner(emailItem)
  log.appendKeys({ source_network: network, user_id: userId })
  const wait = secondsUntilAllowed(source, known, now)
  if (wait > 0) throw tooManyTries('source', wait)

  const key = userId === undefined ? unknownSignInKey(address) : signInKey(userId)
  const [sourceItem, item] = await Promise.all([
    reserveSourceTry(source, known, now),
    reservePasswordTry(key, userId !== undefined, now),
  ])
  const record = toSignInRecord(item)
  const digest = networkDigest(network)
  const isKnownSource = record?.networks.includes(digest) ?? false
  const attempt = { address, at: now, record, source, network: digest, sourceItem, key, item, isKnownSource }
  const isSourceOver = secondsUntilAllowed(source, sourceItem, now, 1) > 0
  if (isSourceOver || (!isKnownSource && countTries(item, passwordCounter, now) > maxAccountTries)) {
    // A refused try must not count, so it is taken back before the client's wait is calculated.
    const after = await giveBackAttempt(attempt)
    throw isSourceOver
      ? tooManyTries('source', secondsUntilAllowed(source, after.sourceItem, now))
      : accountLimitFailure({ ...attempt, ...after })
  }
  return attempt
}

/** Undoes the counting of a try whose password was not compared. Resolves with the counts after that. */
export async function giveBackAttempt(
  attempt: PasswordAttempt,
): Promise<Pick<PasswordAttempt, 'sourceItem' | 'item'>> {
  const { source, key, at } = attempt
  const [sourceItem, item] = await Promise.all([giveBackSourceTry(source, at), giveBackPasswordTry(key, at)])
  return { sourceItem, item }
}

/** Returns the failure for a wrong password: `too_many_requests` at a limit, otherwise `bad_credentials`. */
export async function failedAttempt(attempt: PasswordAttempt): Promise<Failure> {
  const { source, sourceItem, key, item, at, isKnownSource } = attempt
  await removeExpiredCounts(key, item, at)
  const wait = secondsUntilAllowed(source, sourceItem, at)
  if (wait > 0) return tooManyTries('source', wait)
  const isAtLimit = countTries(item, passwordCounter, at) >= maxAccountTries
  return isAtLimit && !isKnownSource ? accountLimitFailure(attempt) : new Failure('bad_credentials')
}

function accountLimitFailure({ item, at, record }: PasswordAttempt): Failure {
  if (record !== undefined) emitMetric('GuessedAccounts', 1)
  return tooManyTries(
    'account',
    secondsUntilBelow(item, passwordCounter, { limit: maxAccountTries, now: at }),
  )
}

function tooManyTries(limit: 'source' | 'account', wait: number): Failure {
  log.appendKeys({ limit })
  // `wait` can be 0, because other requests can lower the count.
  return new Failure('too_many_requests', { retryAfterSeconds: Math.max(1, wait) })
}

/** Name of the counter of wrong passwords from all sources. */
export const passwordCounter = 'password'

/** Counts a password try in the item `key`. `known` says whether this is the item of a user. */
export const reservePasswordTry = (key: Key, known: boolean, now: number): Promise<Item> =>
  reserveTry(key, [passwordCounter], now, { isRecord: known })

/** Takes back a counted password try. */
export const giveBackPasswordTry = (key: Key, reservedAt: number): Promise<Item> =>
  giveBackTry(key, [passwordCounter], reservedAt)

import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { countCharacters, hasInvisible, ofCharacters, UnambiguousText } from '../fields.ts'
import { normalizeEmail, splitAddress, toAsciiDomain } from './normalize-email.ts'

const addressShape = /^[^\s@]+@[^\s@]+$/

/** An address that needs no quotes: words with single dots between them (RFC 5321 §4.1.2). */
const mailShape =
  /^[^\s@.<>()[\]:;\\,"]+(\.[^\s@.<>()[\]:;\\,"]+)*@[^\s@.<>()[\]:;\\,"]+(\.[^\s@.<>()[\]:;\\,"]+)*$/

/** What the API references show of an address. The pattern means the same in all languages. */
const addressInReferences = v.metadata<string, { maxLength: number; pattern: string }>({
  maxLength: 254,
  pattern: '^[^@]+@[^@]+$',
})

/**
 * Schema of an email address as people send it when they sign in; trimmed, at most 254 characters (RFC 5321
 * §4.5.3.1.3).
 */
export const EmailAddress = v.pipe(
  v.string(),
  addressInReferences,
  v.trim(),
  v.check((email) => countCharacters(email) <= 254, 'must have at most 254 characters'),
  v.regex(addressShape, 'must be an email address'),
)

/** A domain to which mail can be sent: labels of letters, digits and inner hyphens, the last no number. */
const mailDomain =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether no label of a domain has a hyphen at an end, which the ASCII form of another script would hide. */
const hasInnerHyphens = (domain: string): boolean => domain.split('.').every((label) => !/^-|-$/.test(label))

function isMailDomain(address: string): boolean {
  const [, domain] = splitAddress(address.normalize('NFKC'))
  return mailDomain.test(toAsciiDomain(domain)) && hasInnerHyphens(domain)
}

/** Maximum length of the part before the @, in octets (RFC 5321 §4.5.3.1.1). */
const maxLocalOctets = 64

/** Schema of a user's email address: no ambiguous or invisible characters, and valid when normalized, too. */
export const UserEmail = v.pipe(
  UnambiguousText,
  addressInReferences,
  v.check((email) => !hasInvisible(email), 'must have no zero-width or bidi characters'),
  v.trim(),
  EmailAddress,
  v.check((email) => mailShape.test(normalizeEmail(email)), 'must be an email address when normalized'),
  // In a domain, mail systems read U+3002 as a dot (UTS #46 §2.3), but NFKC keeps it. So U+3002 is refused.
  v.check((email) => !email.normalize('NFKC').includes('\u3002'), 'must have no ideographic full stop'),
  v.check(
    (email) => !mailShape.test(normalizeEmail(email)) || isMailDomain(email),
    'must have a domain that mail can reach',
  ),
  v.check(
    (email) => Buffer.byteLength(splitAddress(email)[0]) <= maxLocalOctets,
    `must have at most ${maxLocalOctets} octets before the @`,
  ),
)

/**
 * Masks an email address: shows only the first and last character of the local part, as in
 * `a***e@example.com`. From a local part of one or two characters, shows only the first.
 */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  const local = Array.from(email.slice(0, at))
  const last = local.length > 2 ? (local.at(-1) ?? '') : ''
  return `${local[0] ?? ''}***${last}${email.slice(at)}`
}

/** Schema of a nickname, under which a user is shown to others; 1 to 100 characters. */
export const Nickname = v.pipe(UnambiguousText, v.trim(), ...ofCharacters(100))

const shown = {
  nickname: v.string(),
  /** Email address as its owner writes it. */
  email: v.string(),
}

/** Fields that events can change, for each item that stores them: the user item and the sign-in record. */
export const itemFields = {
  user: shown,
  'sign-in': {
    ...shown,
    /** Password hash as PHC string; undefined for users who cannot sign in by password. */
    login_password: v.optional(v.string()),
    /** Ciphertext of the TOTP secret; undefined where no authenticator is enrolled. */
    totp_secret: v.optional(v.instance(Uint8Array)),
    passkey: v.boolean(),
    disabled: v.boolean(),
  },
}

const UserFields = v.object({ ...itemFields.user, ...itemFields['sign-in'] })
export type UserFields = v.InferOutput<typeof UserFields>

/** The fields of a user. A `user.updated` event may change each field independently of the others. */
export const userFields = Object.keys(UserFields.entries) as (keyof UserFields)[]

/** New values of a user's fields. */
export type UserChanges = { [Field in keyof UserFields]?: UserFields[Field] | undefined }

/** Lists the changed fields that belong to the given item of a user. */
export const fieldsIn = (
  item: keyof typeof itemFields,
  changes: UserChanges,
): [field: keyof UserFields, value: unknown][] =>
  userFields
    .filter((field) => changes[field] !== undefined && field in itemFields[item])
    .map((field) => [field, changes[field]])

const emails = itemType({
  pk: 'EMAIL#{normalizedEmail}',
  sk: 'EMAIL',
  holds: 'the user that an email address is reserved for',
  found: 'by normalized address',
})

/** Maximum bytes of an email address in a key. DynamoDB allows keys of 2,048 bytes. */
const maxKeyBytes = 2_000

/** Key of the item that reserves a normalized email address for one user. A very long address is hashed. */
export const emailKey = (normalizedEmail: string): Key =>
  emails.key({
    normalizedEmail:
      Buffer.byteLength(normalizedEmail) <= maxKeyBytes
        ? normalizedEmail
        : createHash('sha256').update(normalizedEmail).digest('base64url'),
  })

const EmailItem = v.object({ user_id: Integer })

/** Returns the user id in the item of an email address; undefined without an item. */
export const emailOwner = (item: Item | undefined): number | undefined =>
  item === undefined ? undefined : v.parse(EmailItem, item).user_id

/** Reads the id of the user who has an email address; undefined if nobody has it. */
export const readEmailOwner = async (normalizedEmail: string): Promise<number | undefined> =>
  emailOwner(await readItem(emailKey(normalizedEmail), { consistent: true }))

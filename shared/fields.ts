import * as v from 'valibot'
import { addDays, dayOf } from './dates.ts'

const notUserId = 'must be a user id: a whole number from 1'

/** Schema of a user id: int64 below 2^53, as a number or as its decimal text. */
export const UserId = v.union(
  [
    v.pipe(v.number(), v.safeInteger(notUserId), v.minValue(1, notUserId)),
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d{0,15}$/, notUserId),
      // States the maximum in words, because JSON Schema cannot limit the value of a number in a string.
      v.description('At most 9007199254740991.'),
      v.transform(Number),
      v.safeInteger(notUserId),
    ),
  ],
  notUserId,
)

/** Writes a user id into an opaque token or ticket, in base 36. */
export const encodeUserId = (userId: number): string => userId.toString(36)

/** Reads a user id that encodeUserId has written; undefined for any other text. */
export function decodeUserId(digits: string | undefined): number | undefined {
  const userId = digits === undefined ? Number.NaN : Number.parseInt(digits, 36)
  return Number.isSafeInteger(userId) && encodeUserId(userId) === digits ? userId : undefined
}

/** Schema of an identifier that the sender chooses, unique among events of its type. */
export const BusinessKey = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.safeInteger(), v.transform(String))]),
  v.regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 printable characters without spaces'),
  v.description('Compares byte by byte, as text: `Id-1` and `id-1` are two, and so are `7` and `07`.'),
)

/** How far a sender's clock may be ahead of this service's clock. */
export const clockToleranceMilliseconds = 300_000

/** The earliest instant that an event may state: 2001. Any instant in seconds lies before it. */
const earliestInstant = 1_000_000_000_000

/**
 * Schema of an instant in epoch milliseconds, from 2001 to at most `maxMilliseconds` ahead of the service's
 * clock.
 */
export const instantAhead = (maxMilliseconds: () => number, reason: string) =>
  v.pipe(
    v.number(),
    v.safeInteger(),
    v.minValue(earliestInstant, 'must be in milliseconds, from 1000000000000 (the year 2001)'),
    v.maxValue(8.64e15),
    v.check((instant) => instant <= Date.now() + maxMilliseconds(), reason),
  )

/**
 * Schema of the instant of a past event, in epoch milliseconds. An instant far in the future is refused,
 * because an update with it would count as newer than every correct update.
 */
export const Instant = instantAhead(
  () => clockToleranceMilliseconds,
  'must be at most five minutes ahead of the clock of this service',
)

/** Schema of a count: a whole number from 0. */
export const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0, 'must not be negative'))

/** Schema of a valid calendar date, `yyyy-MM-dd`. Refuses the year 0, because there was none. */
export const Day = v.pipe(
  v.string(),
  v.isoDate('must be a date, yyyy-MM-dd'),
  v.regex(/^\d{0,3}[1-9]/, 'must be a date that exists, yyyy-MM-dd'),
  v.check((day) => {
    const instant = Date.parse(`${day}T00:00:00Z`)
    return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(day)
  }, 'must be a date that exists, yyyy-MM-dd'),
)

/** The first day on which a reward can have been earned. */
const firstEarningDay = '2000-01-01'

/** Schema of the day on which a reward was earned: from 2000 to tomorrow in the reporting time zone. */
export const EarningDay = v.pipe(
  Day,
  v.check(
    (day) => day >= firstEarningDay && day <= addDays(dayOf(Date.now()), 1),
    `must be a day from ${firstEarningDay} to tomorrow`,
  ),
)

/** Schema of a currency code or network code. Converts the code to upper case. */
export const CurrencyCode = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9._-]{1,20}$/, 'must be a code of 1 to 20 letters and digits'),
  v.toUpperCase(),
)

/**
 * Schema of a list's currency filter. Converts the filter to upper case. An unknown currency gives an empty
 * list. Only ASCII letters are converted: `ſ` in upper case would be `S`.
 */
export const CurrencyFilter = v.optional(
  v.pipe(
    v.string(),
    v.description('In upper or lower case.'),
    v.transform((text) => text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())),
  ),
)

/** The number of characters of a text: Unicode code points, as JSON Schema counts them. */
export const countCharacters = (text: string): number => Array.from(text).length

/**
 * Limits a text to 1 to `max` characters, as items of a pipe: from a pipe's second schema on, the API
 * references show nothing.
 */
export const ofCharacters = (max: number) =>
  [
    v.metadata<string, { minLength: number; maxLength: number }>({ minLength: 1, maxLength: max }),
    v.check((text: string) => text !== '' && countCharacters(text) <= max, `must be 1 to ${max} characters`),
  ] as const

/** Schema of any text of 1 to `max` characters. */
export const Text = (max: number) => v.pipe(v.string(), ...ofCharacters(max))

/**
 * Matches the zero-width characters that names may have: joiners and non-joiners between letters, and the
 * zero-width characters in emoji, keycaps and the flags of England, Scotland and Wales (UTS #51). Others are
 * refused, because nobody would see them.
 */
const joiners = new RegExp(
  [
    String.raw`(?<=[\p{L}\p{M}])[\u200c\u200d](?=\p{L})`,
    String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
    String.raw`(?<=\p{Extended_Pictographic})\ufe0f`,
    String.raw`(?<=[\d#*])\ufe0f(?=\u20e3)`,
    String.raw`(?<=\u{1f3f4})\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`,
  ].join('|'),
  'gu',
)

/** Whether a text has zero-width or bidi characters, which nobody sees. */
export const hasInvisible = (text: string): boolean => /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(text)

/**
 * Schema of a text without control, zero-width or bidi characters, except `joiners`. Each violation has its
 * own reason, so that a sender learns the cause. Trim only after this check, because trimming removes such
 * characters at the ends.
 */
const VisibleText = v.pipe(
  v.string(),
  v.check((text) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text), 'must have no control characters'),
  v.check(
    (text) => !hasInvisible(text.replaceAll(joiners, '')),
    'must have no zero-width or bidi characters',
  ),
)

/** Schema of a visible text that a sender's program sends: in normalization form C, or refused. */
export const UnambiguousText = v.pipe(
  VisibleText,
  v.check((text) => text === text.normalize('NFC'), 'must be in Unicode normalization form C'),
)

/** Schema of a visible text that people type: normalized, because keyboards also send decomposed letters. */
export const TypedText = v.pipe(VisibleText, v.normalize('NFC'))

/** Schema of a text of 1 to `max` characters that also passes the checks of UnambiguousText. */
export const PlainText = (max: number) => v.pipe(UnambiguousText, ...ofCharacters(max))

/**
 * Schema of an identifier of 1 to `max` characters in which spaces may separate words. It has no space at its
 * ends, and no other white space, because two identifiers that look alike would count as two.
 */
export const SpacedName = (max: number) =>
  v.pipe(
    PlainText(max),
    v.check((text) => text === text.trim(), 'must have no space at its ends'),
    v.check((text) => !/[^\S ]/.test(text), 'must have no white space other than the plain space'),
    v.description('Compares byte by byte.'),
  )

/**
 * Schema of an event's detail, or of an object in it, with these members and no other. A misspelt member is
 * refused by name, because what it meant would be lost for good.
 */
export const membersOf = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, ({ expected, message }) =>
    expected === 'never' ? 'is not a member of this event' : message,
  )

/** Schema of an optional field, which may be omitted or null. */
export const maybe = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  )

import * as v from 'valibot'

/**
 * Schema of a number, or of a text that contains a number, because environment variables and command lines
 * carry text. An empty text is refused, because JavaScript would read it as 0.
 */
export const numeric = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.regex(/\S/, 'must be a number'))]),
  v.transform(Number),
  v.finite(),
)
const seconds = (fallback: number, minimum = 1) =>
  v.optional(v.pipe(numeric, v.integer(), v.minValue(minimum)), fallback)
const currency = (fallback: string) => v.optional(v.pipe(v.string(), v.regex(/^[A-Z0-9]{1,16}$/)), fallback)

/**
 * Schema of a time zone that this runtime knows, for example `Europe/Berlin`. Does not use Intl for UTC:
 * the first use of Intl takes 80 ms in a function with 256 MB.
 */
const timeZone = v.pipe(
  v.string(),
  v.check((name) => {
    if (name === 'UTC') return true
    try {
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
    } catch {
      return false
    }
  }, 'must be an IANA time zone name'),
)

/** Schema of a setting that is on or off. */
export const Flag = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false'])]),
  v.transform((value) => value === true || value === 'true'),
)

/**
 * Every setting that functions read at run time, with its default. Functions receive the settings as
 * environment variables. infra/config.ts adds the settings that only the stacks read.
 */
export const Settings = v.object({
  /** Lifetime of an access_token and of the device_token issued with it. */
  accessTokenTtlSeconds: seconds(86_400),
  /** Lifetime of an authorization code. */
  authorizationCodeTtlSeconds: seconds(60),
  /** Lifetime of the login ticket, between the password and the second factor. */
  loginTicketTtlSeconds: seconds(600),
  /** KMS key spec of new signing keys. */
  signingKeySpec: v.optional(v.picklist(['RSA_2048', 'RSA_3072', 'RSA_4096']), 'RSA_2048'),
  /**
   * How long a signing key signs before its successor takes over. At most 1,095 days, the cryptoperiod of a
   * private signature key by NIST SP 800-57 Part 1 Rev. 5, 5.3.6. Fractions of a day are allowed.
   */
  signingKeyRotationDays: v.optional(v.pipe(numeric, v.gtValue(0), v.maxValue(3 * 365)), 30),
  /** How long a new key is in the JWKS before it signs. */
  signingKeyPublishSeconds: seconds(86_400, 0),
  /** How long a key stays in the JWKS after the last token that it signed has expired. */
  signingKeyRetireMarginSeconds: seconds(7_200, 0),
  /** Days until KMS deletes a retired key (7 to 30), or 0 to keep it disabled. */
  signingKeyDeletionDays: v.optional(
    v.pipe(
      numeric,
      v.integer(),
      v.check((days) => days === 0 || (days >= 7 && days <= 30), 'must be 0, or 7 to 30'),
    ),
    30,
  ),
  /** max-age of the JWKS and the discovery document. It is capped at half of signingKeyPublishSeconds. */
  jwksMaxAgeSeconds: seconds(300, 0),
  /** client_id of the password flow, and the `aud` of its device_tokens. */
  firstPartyClientId: v.optional(v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,128}$/)), 'first-party'),
  /** Quote currency, into which wallets are converted. */
  quoteCurrency: currency('USDT'),
  /** Currency of package amounts and network rewards. */
  rewardCurrency: currency('USDT'),
  /** Time zone of every date that the service reads or writes. */
  reportingTimeZone: v.optional(timeZone, 'UTC'),
  /** Maximum number of members or bills in one export. */
  exportCap: v.optional(v.pipe(numeric, v.integer(), v.minValue(1), v.maxValue(10_000)), 10_000),
  /**
   * How long an event waits for others that it needs, such as the registration of its user or the money that
   * it takes, before it is refused. At most 60.
   */
  earlyEventSeconds: v.optional(v.pipe(numeric, v.integer(), v.minValue(1), v.maxValue(60)), 60),
  /** Sender address of all mails. A deployment must set it. */
  mailFrom: v.optional(v.pipe(v.string(), v.email()), 'no-reply@example.com'),
})
export type Settings = v.InferOutput<typeof Settings>

/** The environment variable of a setting: `accessTokenTtlSeconds` → `ACCESS_TOKEN_TTL_SECONDS`. */
export const environmentName = (setting: string): string =>
  setting.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

let parsed: Settings | undefined

/** The settings of this function, parsed once from its environment. Throws when one is out of range. */
export function settings(): Settings {
  parsed ??= v.parse(
    Settings,
    Object.fromEntries(
      Object.keys(Settings.entries).map((name) => [name, process.env[environmentName(name)] ?? undefined]),
    ),
  )
  return parsed
}

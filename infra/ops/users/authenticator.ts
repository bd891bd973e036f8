import { generateSecret, generateURI } from 'otplib'
import { renderUnicodeCompact } from 'uqr'

/** What a person needs to enrol an authenticator app. */
export interface Enrolment {
  /** Base32. */
  totp_secret: string
  /** Key URI, which the QR code holds. */
  otpauth_uri: string
}

/** Makes a new secret of 160 bits, as RFC 4226 §4 recommends. */
export function newEnrolment(issuer: string, email: string): Enrolment {
  const secret = generateSecret({ length: 20 })
  return { totp_secret: secret, otpauth_uri: generateURI({ issuer, label: email, secret }) }
}

/** The enrolment for a person: a QR code for the app, and the secret for typing. */
export const showEnrolment = ({ totp_secret: secret, otpauth_uri: uri }: Enrolment): string =>
  [renderUnicodeCompact(uri), `Secret for typing: ${secret}`, 'It is shown this once.'].join('\n')

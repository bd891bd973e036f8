import { domainToASCII } from 'node:url'
import { foldCase } from '../fold-case.ts'

/** Characters that end a host in a URL, or that are decoded or left out there. */
const urlSyntax = /[%/\\?#\t\n\r]/

/**
 * A mail domain in ASCII (UTS #46), as browsers send it from a field for email addresses; empty if it has no
 * such form. URL syntax is refused, because Node.js would read the domain as in a URL.
 */
export const toAsciiDomain = (domain: string): string => (urlSyntax.test(domain) ? '' : domainToASCII(domain))

/** Splits an address at its last @; without one, all of it is the local part. */
export function splitAddress(address: string): [local: string, domain: string] {
  const at = address.lastIndexOf('@')
  return at === -1 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)]
}

/**
 * Normalizes an email address for comparison: ignores case, surrounding space and compatibility forms, and
 * takes the domain in its ASCII form. A lone surrogate becomes U+FFFD, because the table cannot store it.
 */
export function normalizeEmail(email: string): string {
  const address = email.trim().toWellFormed().normalize('NFKC')
  const [local, domain] = splitAddress(address)
  return domain === '' ? foldCase(address) : `${foldCase(local)}@${toAsciiDomain(domain) || foldCase(domain)}`
}

/** An email address in the form in which SES takes it: the domain in ASCII. */
export function toMailAddress(email: string): string {
  const [local, domain] = splitAddress(email)
  return `${local}@${toAsciiDomain(domain) || domain}`
}

/**
 * The content of an event about a user: its detail, with the domain of the email address in ASCII. So a copy
 * of the event has the same content however it spells the domain.
 */
export const withAsciiDomain = <Detail extends { email?: string | undefined }>(detail: Detail): Detail => ({
  ...detail,
  email: detail.email && toMailAddress(detail.email.normalize('NFKC')),
})

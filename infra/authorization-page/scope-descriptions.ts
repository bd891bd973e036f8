import type { Scope } from '../../shared/tokens/scopes.ts'

/** What each OAuth scope lets an app do; completes the sentence "It will be able to …". */
const descriptions: Record<Scope, string> = {
  openid: 'know that it is you, by your member number',
  profile: 'see your nickname',
  email: 'see your email address',
  'account.read': 'see your balances and transactions in both wallets',
  'community.read': 'see the members of your community',
  'community.write': 'change your notes on people you referred',
  'dashboard.read': 'see your rewards, earnings, devices and traffic',
  'deposit.read': 'see your deposit addresses and deposits',
}

/** Describes an OAuth scope to the user. One that a newer service has added is shown unchanged. */
export const describeScope = (scope: string): string =>
  (descriptions as Record<string, string>)[scope] ?? scope

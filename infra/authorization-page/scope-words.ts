import type { Scope } from '../../shared/tokens/scopes.ts'

/** What each scope lets an app do, in the user's words: after "It will be able to". */
const words: Record<Scope, string> = {
  openid: 'know that it is you, by your member number',
  profile: 'see your nickname',
  email: 'see your email address',
  'account.read': 'see your balances and transactions in both wallets',
  'community.read': 'see the members of your community',
  'community.write': 'change your notes on people you referred',
  'dashboard.read': 'see your rewards, earnings, devices and traffic',
  'deposit.read': 'see your deposit addresses and deposits',
}

/** A scope in plain words; one that this page does not know is shown as it is, for the service will refuse it. */
export const describeScope = (scope: string): string => (words as Record<string, string>)[scope] ?? scope

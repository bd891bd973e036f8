import { countNoun, type Report } from '../report.ts'
import type { verifyLedger } from '../verify-ledger.ts'

type Verification = Awaited<ReturnType<typeof verifyLedger>>

/** Reports what `ledger verify` found. */
export function reportLedger({ wallets, bills, differences }: Verification): Report {
  const differing = new Set(differences.map(({ userId, wallet }) => `${userId}#${wallet}`)).size
  return {
    ok: differences.length === 0,
    verdict:
      differences.length === 0
        ? `No differences: ${countNoun(wallets, 'wallet')} and ${countNoun(bills, 'bill')}`
        : `${countNoun(differences.length, 'difference')} in ${differing} of ${countNoun(wallets, 'wallet')}`,
    sections: [
      {
        columns: ['USER', 'WALLET', 'CURRENCY', 'WHAT DIFFERS'],
        rows: differences.map(({ userId, wallet, currency, what, expected, actual }) => ({
          cells: [String(userId), wallet, currency ?? '-', what],
          below: `expected ${expected}, found ${actual}`,
        })),
        tone: 'wrong',
      },
    ],
  }
}

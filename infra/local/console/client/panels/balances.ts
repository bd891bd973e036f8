import { make } from '../../../../authorization-page/dom.ts'
import type { Api } from '../api.ts'
import type { Exact } from '../exact-json.ts'
import { type Column, makePanel, makeTable } from '../view.ts'

interface Account {
  currency: string
  balance: Exact
  hold: Exact
  deposited: Exact
  withdrawal: Exact
}

interface Summary {
  currency: string
  total: Exact
  assets: { currency: string; rate: Exact | null; value: Exact | null }[]
}

/** Both wallets: what is in them, and what that is worth. */
export function showBalances(api: Api): HTMLElement {
  const panel = makePanel('balances', 'Balances')
  void panel.attempt(async () => {
    const [asset, assetValue, reward, rewardValue] = await Promise.all([
      api.get<Account[]>('/account/info'),
      api.get<Summary>('/account/asset'),
      api.get<Account[]>('/bonus-account/info'),
      api.get<Summary>('/bonus-account/asset'),
    ])
    panel.body.replaceChildren(
      ...showWallet('Asset wallet', asset, assetValue),
      ...showWallet('Reward wallet', reward, rewardValue),
    )
  })
  return panel.element
}

function showWallet(name: string, accounts: Account[], summary: Summary): HTMLElement[] {
  const worth = (currency: string) => summary.assets.find((asset) => asset.currency === currency)?.value
  const amount = (head: string, pick: (account: Account) => Exact): Column<Account> => ({
    head,
    numeric: true,
    cell: (account) => String(pick(account)),
  })
  return [
    make('h3', {}, `${name}: ${summary.total} ${summary.currency}`),
    makeTable(
      name,
      [
        { head: 'Currency', cell: ({ currency }) => currency },
        amount('Balance', ({ balance }) => balance),
        amount('On hold', ({ hold }) => hold),
        amount('Deposited', ({ deposited }) => deposited),
        amount('Withdrawn', ({ withdrawal }) => withdrawal),
        {
          head: `Worth in ${summary.currency}`,
          numeric: true,
          cell: ({ currency }) => String(worth(currency) ?? 'no rate'),
        },
      ],
      accounts,
      'Nothing yet.',
    ),
  ]
}

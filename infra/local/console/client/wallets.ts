import { billTypes } from '../../../../shared/ledger/bill-types.ts'
import { make } from '../../../authorization-page/dom.ts'
import type { Api } from './api.ts'
import { makeInput, makePanel, makeSelect, makeTable, type Row, showPagedList } from './elements.ts'

type Summary = { currency: string; total: number | string; assets: Row[] }

/** Shows the balances of both wallets and their value. */
export function showBalances(api: Api): HTMLElement {
  const panel = makePanel('balances', 'Balances')
  const show = async (name: string, path: string) => {
    const [accounts, { currency, total, assets }] = await Promise.all([
      api.get<Row[]>(`${path}/info`),
      api.get<Summary>(`${path}/asset`),
    ])
    const valued = accounts.map((account) => ({
      ...account,
      value: assets.find((asset) => asset.currency === account.currency)?.value ?? 'no rate',
    }))
    const columns = 'currency balance hold deposited withdrawal value'
    const table = makeTable(name, columns, valued, 'Nothing yet.')
    return [make('h3', {}, `${name}: ${total} ${currency}`), table]
  }
  void panel.attempt(async () => {
    const shown = [show('Asset wallet', '/account'), show('Reward wallet', '/bonus-account')]
    panel.body.replaceChildren(...(await Promise.all(shown)).flat())
  })
  return panel.element
}

/** Shows the bills of either wallet, with filters. */
export function showBills(api: Api): HTMLElement {
  const panel = makePanel('bills', 'Bills')
  const types = Object.fromEntries(Object.keys(billTypes).map((type) => [type, type]))
  showPagedList(panel, {
    label: 'Bills',
    filters: {
      Wallet: makeSelect('wallet', { Asset: '/account/bills', Reward: '/bonus-account/bills' }),
      Currency: makeInput('currency', { size: '8', placeholder: 'all' }),
      Direction: makeSelect('amountDirection', { both: '', credit: '1', debit: '2' }),
      Type: makeSelect('businessId', { all: '', ...types }),
      From: makeInput('beginTime', { type: 'date' }),
      To: makeInput('endTime', { type: 'date' }),
    },
    read: ({ wallet, ...query }) => api.get(String(wallet), query),
    size: 8,
    columns: 'created_at business_id amount balance_after reference remark',
    cells: {
      amount: ({ amount, amount_direction: direction, currency }) =>
        `${direction === 1 ? '+' : '−'}${String(amount)} ${String(currency)}`,
    },
    none: 'No bill matches.',
  })
  return panel.element
}

import { make } from '../../../../authorization-page/dom.ts'
import type { Api } from '../api.ts'
import type { Exact } from '../exact-json.ts'
import { makeFilter, makePager, makePanel, makeSelect, makeTable, type Page, showInstant } from '../view.ts'

interface Bill {
  currency: string
  amount: Exact
  amount_direction: 1 | 2
  business_id: string
  balance_after: Exact
  reference: string
  remark: string | null
  created_at: number
}

const types = [
  'DEPOSIT',
  'WITHDRAWAL',
  'TRANSFER_IN',
  'TRANSFER_OUT',
  'REWARD',
  'PACKAGE_PURCHASE',
  'ADJUSTMENT_CREDIT',
  'ADJUSTMENT_DEBIT',
]
const pageSize = 8

/** The transactions of either wallet, by any combination of filters, a page at a time. */
export function showBills(api: Api): HTMLElement {
  const panel = makePanel('bills', 'Bills')
  const wallet = makeSelect('wallet', [
    ['/account/bills', 'Asset'],
    ['/bonus-account/bills', 'Reward'],
  ])
  const filters = {
    currency: make('input', { name: 'currency', size: '8', placeholder: 'all', autocomplete: 'off' }),
    amountDirection: makeSelect('amountDirection', [
      ['', 'both'],
      ['1', 'credit'],
      ['2', 'debit'],
    ]),
    businessId: makeSelect('businessId', [
      ['', 'all'],
      ...types.map((type): [string, string] => [type, type]),
    ]),
    beginTime: make('input', { name: 'beginTime', type: 'date' }),
    endTime: make('input', { name: 'endTime', type: 'date' }),
  }
  const list = make('div', {})
  let newest = 0
  const load = (current: number): Promise<void> =>
    panel.attempt(async () => {
      const mine = ++newest
      const query = Object.fromEntries(
        Object.entries(filters).map(([name, { value }]) => [name, value.trim()]),
      )
      const page = await api.get<Page<Bill>>(wallet.value, { ...query, current, size: pageSize })
      // An answer that a later question has overtaken is not what the filters say any more.
      if (mine !== newest) return
      list.replaceChildren(
        showRecords(page.records),
        makePager(page, (number) => void load(number)),
      )
    })
  panel.body.append(
    make(
      'form',
      {
        class: 'filters',
        'aria-label': 'Filter bills',
        onchange: () => void load(1),
        onsubmit(event) {
          event.preventDefault()
          void load(1)
        },
      },
      makeFilter('Wallet', wallet),
      makeFilter('Currency', filters.currency),
      makeFilter('Direction', filters.amountDirection),
      makeFilter('Type', filters.businessId),
      makeFilter('From', filters.beginTime),
      makeFilter('To', filters.endTime),
    ),
    list,
  )
  void load(1)
  return panel.element
}

const showRecords = (records: Bill[]): HTMLElement =>
  makeTable(
    'Bills',
    [
      { head: 'When', cell: (bill) => showInstant(bill.created_at) },
      { head: 'Type', cell: (bill) => bill.business_id },
      {
        head: 'Amount',
        numeric: true,
        cell: (bill) => `${bill.amount_direction === 1 ? '+' : '−'}${bill.amount} ${bill.currency}`,
      },
      { head: 'Balance after', numeric: true, cell: (bill) => String(bill.balance_after) },
      { head: 'Reference', cell: (bill) => make('code', {}, bill.reference) },
      { head: 'Remark', cell: (bill) => bill.remark ?? '' },
    ],
    records,
    'No bill matches.',
  )

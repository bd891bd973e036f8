import { encode } from 'uqr'
import { make } from '../../../../authorization-page/dom.ts'
import type { Api } from '../api.ts'
import type { Exact } from '../exact-json.ts'
import { makeFilter, makePager, makePanel, makeSelect, makeTable, type Page, showInstant } from '../view.ts'

interface Address {
  currency: string
  currency_network: string
  address: string
  tag: string | null
  required_confirmations: number
}

interface Deposit {
  currency: string
  amount: Exact
  currency_network: string
  status: string
  confirmations: number
  required_confirmations: number
  created_at: number
}

const pageSize = 5

/** An address to pay to, also as a QR code, and what has been paid. */
export function showDeposit(api: Api): HTMLElement {
  const panel = makePanel('deposit', 'Deposits')
  const choice = makeSelect('network', [
    ['USDT TRC20', 'USDT on TRC20'],
    ['BTC BITCOIN', 'BTC on Bitcoin'],
  ])
  const address = make('div', { class: 'address' })
  const records = make('div', {})
  const loadAddress = () =>
    panel.attempt(async () => {
      const [currency, currencyNetWork] = choice.value.split(' ')
      address.replaceChildren(
        ...showAddress(await api.get<Address>('/address/info', { currency, currencyNetWork })),
      )
    })
  const loadRecords = (current: number): Promise<void> =>
    panel.attempt(async () => {
      const page = await api.get<Page<Deposit>>('/deposit/records', { current, size: pageSize })
      records.replaceChildren(
        showRecords(page.records),
        makePager(page, (number) => void loadRecords(number)),
      )
    })
  choice.addEventListener('change', () => void loadAddress())
  panel.body.append(makeFilter('Currency and network', choice), address, make('h3', {}, 'Received'), records)
  void loadAddress()
  void loadRecords(1)
  return panel.element
}

function showAddress({ address, tag, required_confirmations }: Address): HTMLElement[] {
  return [
    make('figure', {}, drawCode(address), make('figcaption', {}, make('code', { class: 'wrap' }, address))),
    make(
      'p',
      {},
      tag === null ? '' : `With the tag ${tag}. `,
      `Credited after ${required_confirmations} confirmations.`,
    ),
  ]
}

/** A QR code as a picture: dark on light in both themes, for that is what cameras read. */
function drawCode(text: string): Element {
  const { data, size } = encode(text, { border: 2 })
  const namespace = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(namespace, 'svg')
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`)
  svg.setAttribute('class', 'qr')
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', `QR code of ${text}`)
  const path = document.createElementNS(namespace, 'path')
  const squares = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
  path.setAttribute('d', squares.join(''))
  svg.append(path)
  return svg
}

const showRecords = (deposits: Deposit[]): HTMLElement =>
  makeTable(
    'Deposits',
    [
      { head: 'When', cell: (deposit) => showInstant(deposit.created_at) },
      { head: 'Amount', numeric: true, cell: (deposit) => `${deposit.amount} ${deposit.currency}` },
      { head: 'Network', cell: (deposit) => deposit.currency_network },
      { head: 'Status', cell: (deposit) => deposit.status },
      {
        head: 'Confirmations',
        numeric: true,
        cell: (deposit) => `${deposit.confirmations} of ${deposit.required_confirmations}`,
      },
    ],
    deposits,
    'Nothing has arrived yet.',
  )

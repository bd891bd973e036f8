import { encode } from 'uqr'
import { make } from '../../../authorization-page/dom.ts'
import type { Api } from './api.ts'
import { makeFilter, makePanel, makeSelect, makeSvg, showPagedList } from './elements.ts'

interface Address {
  address: string
  tag: string | null
  required_confirmations: number
}

/** Shows the panel with the deposit address, also as a QR code, and the deposits. */
export function showDeposits(api: Api): HTMLElement {
  const panel = makePanel('deposit', 'Deposits')
  const choice = makeSelect('network', { 'USDT on TRC20': 'USDT TRC20', 'BTC on Bitcoin': 'BTC BITCOIN' })
  const place = make('div')
  const loadAddress = () =>
    void panel.attempt(async () => {
      const [currency, currencyNetWork] = choice.value.split(' ')
      place.replaceChildren(
        ...showAddress(await api.get<Address>('/address/info', { currency, currencyNetWork })),
      )
    })
  choice.addEventListener('change', loadAddress)
  panel.body.append(makeFilter('Currency and network', choice), place, make('h3', {}, 'Received'))
  loadAddress()
  showPagedList(panel, {
    label: 'Deposits',
    read: (query) => api.get('/deposit/records', query),
    size: 5,
    columns: 'created_at amount currency currency_network status confirmations required_confirmations',
    none: 'Nothing has arrived yet.',
  })
  return panel.element
}

function showAddress({ address, tag, required_confirmations: confirmations }: Address): HTMLElement[] {
  const caption = make('figcaption', {}, make('code', { class: 'wrap' }, address))
  const tagged = tag === null ? '' : `With the tag ${tag}. `
  return [
    make('figure', {}, drawQrCode(address), caption),
    make('p', {}, `${tagged}Credited after ${confirmations} confirmations.`),
  ]
}

/** A QR code, dark on light in both colour schemes, because cameras read no other. */
function drawQrCode(text: string): Element {
  const { data, size } = encode(text, { border: 2 })
  const squares = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
  return makeSvg(
    'svg',
    { viewBox: `0 0 ${size} ${size}`, class: 'qr', role: 'img', 'aria-label': `QR code of ${text}` },
    makeSvg('path', { d: squares.join('') }),
  )
}

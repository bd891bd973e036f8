import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { encode } from 'uqr'
import { api, dataOf, type Model } from './api.ts'
import { showInstant, showName } from './format.ts'
import { type Columns, Filter, Pages, pageSize, useFilters } from './list.tsx'
import { Button, Card, Icon, Loaded, Money } from './parts.tsx'

/** How often the list is read again, so that confirmations move as they come in. */
const refreshMilliseconds = 3000

/** The networks on which deposits arrive, each with its currency. No endpoint lists them. */
const depositNetworks: Record<string, string> = { TRC20: 'USDT', BITCOIN: 'BTC' }
const networks = Object.keys(depositNetworks)
const currencies = ['', ...new Set(Object.values(depositNetworks))]
const showNetwork = (network: string) => `${depositNetworks[network] ?? ''} on ${network}`

/** Where to send a deposit, and what became of those sent. */
export function Deposits() {
  const { query: chosen, current } = useFilters()
  const { currency, beginTime, endTime } = chosen
  const filters = { currency, beginTime, endTime, current, size: pageSize }
  const query = useQuery({
    queryKey: ['deposits', filters],
    queryFn: () => dataOf(api.GET('/deposit/records', { params: { query: filters } })),
    placeholderData: (previous) => previous,
    refetchInterval: refreshMilliseconds,
  })
  const empty = 'No deposits here. A new one shows up as soon as its network has seen it.'
  return (
    <>
      <h1>Deposits</h1>
      <Address />
      <Card title="Records">
        <search class="filters">
          <Filter label="Currency" name="currency" choices={currencies} />
          <Filter label="From" name="beginTime" type="date" />
          <Filter label="To" name="endTime" type="date" />
        </search>
        <Pages query={query} name="deposits" columns={columns} empty={empty} />
      </Card>
    </>
  )
}

function Address() {
  const network = useFilters().query['network'] ?? networks[0] ?? ''
  const query = { currency: depositNetworks[network] ?? '', currencyNetWork: network }
  const address = useQuery({
    queryKey: ['address', network],
    queryFn: () => dataOf(api.GET('/address/info', { params: { query } })),
    staleTime: Infinity,
  })
  const choice = <Filter label="Send" name="network" choices={networks} show={showNetwork} />
  return (
    <Card title="Your deposit address" actions={choice}>
      <Loaded query={address} lines={8}>
        {({ address: text, tag, required_confirmations: confirmations }) => (
          <div class="address">
            <QrCode text={text} />
            <div>
              <p>
                Send only <strong>{showNetwork(network)}</strong> to this address. Anything else is lost. It
                is credited after {confirmations} confirmations.
              </p>
              <Copyable label="Address" text={text} />
              {tag !== null && <Copyable label="Tag, without which it does not arrive" text={tag} />}
            </div>
          </div>
        )}
      </Loaded>
    </Card>
  )
}

function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the address">
      <path d={path} />
    </svg>
  )
}

function Copyable({ label, text }: { label: string; text: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <div class="copyable">
      <small>{label}</small>
      <code>{text}</code>
      <Button onClick={() => void copy()}>
        <Icon name="copy" /> Copy
      </Button>
      <small role="status">{isCopied && 'Copied'}</small>
    </div>
  )
}

const columns: Columns<Model<'DepositRecord'>> = [
  [
    'Deposit',
    ({ currency_network: network, txid }) => (
      <>
        <strong>{showNetwork(network)}</strong>
        <small>{txid}</small>
      </>
    ),
    'main',
  ],
  ['Seen', (deposit) => showInstant(deposit.created_at)],
  ['Amount', (deposit) => <Money amount={deposit.amount} currency={deposit.currency} />, 'number'],
  [
    'Confirmations',
    ({ confirmations, required_confirmations: required }) => (
      <span class="confirmations">
        <progress max={required} value={Math.min(confirmations, required)} aria-label="Confirmations" />
        {confirmations} of {required}
      </span>
    ),
  ],
  ['Status', ({ status }) => <span class={`pill is-${status.toLowerCase()}`}>{showName(status)}</span>],
]

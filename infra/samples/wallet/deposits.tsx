import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { renderSVG } from 'uqr'
import { api, dataOf, type Model, type Query } from './api.ts'
import { showInstant } from './format.ts'
import { Choice, type Columns, List, useChoices } from './list.tsx'
import { Button, Card, Heading, Icon, Loaded, Money, Status } from './parts.tsx'

/** How often the list is read again, so that confirmations move as they come in. */
const refreshMilliseconds = 3000

/** The networks on which deposits arrive, each with its currency. No endpoint lists them. */
const depositNetworks: Record<string, string> = { TRC20: 'USDT', BITCOIN: 'BTC' }
const networks = Object.keys(depositNetworks)
const currencies = ['', ...new Set(Object.values(depositNetworks))]
const showNetwork = (network: string) => `${depositNetworks[network] ?? ''} on ${network}`

/** Where to send a deposit, and what became of those sent. */
export const Deposits = () => (
  <>
    <h1>Deposits</h1>
    <Address />
    <List
      title="Records"
      name="deposits"
      filters={[
        { label: 'Currency', name: 'currency', values: currencies },
        { label: 'From', name: 'beginTime', type: 'date' },
        { label: 'To', name: 'endTime', type: 'date' },
      ]}
      columns={columns}
      empty="No deposits here. A new one shows up as soon as its network has seen it."
      request={(query: Query<'/deposit/records'>) => api.GET('/deposit/records', { params: { query } })}
      refetchInterval={refreshMilliseconds}
    />
  </>
)

function Address() {
  const network = useChoices().chosen['network'] ?? networks[0] ?? ''
  const query = { currency: depositNetworks[network] ?? '', currencyNetWork: network }
  const address = useQuery({
    queryKey: ['address', network],
    queryFn: () => dataOf(api.GET('/address/info', { params: { query } })),
    staleTime: Infinity,
  })
  const choice = <Choice label="Send" name="network" values={networks} show={showNetwork} />
  return (
    <Card title="Your deposit address" actions={choice}>
      <Loaded query={address} lines={8}>
        {({ address: text, tag, required_confirmations: confirmations }) => (
          <div class="address">
            <img
              class="qr"
              alt="QR code of the address"
              src={`data:image/svg+xml,${encodeURIComponent(renderSVG(text))}`}
            />
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
    ({ currency, currency_network: network, txid }) => (
      <Heading main={`${currency} on ${network}`} detail={txid} />
    ),
    'main',
  ],
  ['Seen', ({ occurred_at: at }) => showInstant(at)],
  ['Amount', (deposit) => <Money amount={deposit.amount} currency={deposit.currency} />, 'number'],
  [
    'Confirmations',
    ({ confirmations, required_confirmations: required }) => (
      <>
        <progress max={required} value={Math.min(confirmations, required)} aria-label="Confirmations" />
        {confirmations} of {required}
      </>
    ),
  ],
  ['Status', ({ status }) => <Status status={status} />],
]

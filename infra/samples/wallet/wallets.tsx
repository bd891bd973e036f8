import { useQuery } from '@tanstack/preact-query'
import { api, csv, dataOf, type Model, type Query } from './api.ts'
import { showInstant, showName } from './format.ts'
import { type Columns, List, Table, useChoices } from './list.tsx'
import { Card, Heading, Loaded, Money, Status } from './parts.tsx'

/** The two wallets, which have the same endpoints. */
const wallets = {
  asset: { title: 'Asset wallet', path: '/account' },
  reward: { title: 'Reward wallet', path: '/bonus-account' },
} as const

type Wallet = keyof typeof wallets

/** One wallet: what it holds, what is on its way out of it, and every movement that led to it. */
export function Wallets() {
  const wallet: Wallet = useChoices().chosen['wallet'] === 'reward' ? 'reward' : 'asset'
  return (
    <>
      <h1>Wallets</h1>
      <nav class="tabs" aria-label="Wallet">
        {Object.entries(wallets).map(([name, { title }]) => (
          <a key={name} href={`/wallets?wallet=${name}`} aria-current={name === wallet ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Holdings wallet={wallet} key={wallet} />
      {wallet === 'asset' && <Withdrawals />}
      <Bills wallet={wallet} key={wallet} />
    </>
  )
}

const useAccounts = (wallet: Wallet) =>
  useQuery({
    queryKey: ['accounts', wallet],
    queryFn: () => dataOf(api.GET(`${wallets[wallet].path}/info`)),
  })

function Holdings({ wallet }: { wallet: Wallet }) {
  const accounts = useAccounts(wallet)
  const value = useQuery({
    queryKey: ['value', wallet],
    queryFn: () => dataOf(api.GET(`${wallets[wallet].path}/asset`)),
  })
  const valueOf = (currency: string) => value.data?.assets.find((asset) => asset.currency === currency)?.value
  const movements: Columns<Model<'Account'>> = [
    ['Deposited', ({ deposited }) => <Money amount={deposited} />, 'number'],
    ['Withdrawn', ({ withdrawal }) => <Money amount={withdrawal} />, 'number'],
  ]
  const columns: Columns<Model<'Account'>> = [
    ['Currency', ({ currency }) => <strong>{currency}</strong>, 'main'],
    ['Available', ({ balance }) => <Money amount={balance} />, 'number'],
    ['On hold', ({ hold }) => <Money amount={hold} />, 'number'],
    ...(wallet === 'asset' ? movements : []),
    [
      `Value in ${value.data?.currency ?? '…'}`,
      ({ currency }) => <Money amount={valueOf(currency)} />,
      'number',
    ],
  ]
  return (
    <Card title={wallets[wallet].title}>
      <Loaded query={accounts} lines={6}>
        {(rows) => <Table name="Holdings" rows={rows} columns={columns} empty="This wallet is empty." />}
      </Loaded>
    </Card>
  )
}

const Withdrawals = () => (
  <List
    title="Withdrawals"
    name="withdrawals"
    columns={withdrawalColumns}
    empty="No withdrawals yet."
    request={(query: Query<'/withdrawal/records'>) => api.GET('/withdrawal/records', { params: { query } })}
  />
)

const withdrawalColumns: Columns<Model<'WithdrawalRecord'>> = [
  ['Withdrawal', ({ id, currency }) => <Heading main={currency} detail={id} />, 'main'],
  ['Requested', ({ occurred_at: at }) => showInstant(at)],
  ['Settled', ({ settled_at: at }) => (at === null ? '—' : showInstant(at))],
  ['Amount', ({ amount }) => <Money amount={amount} />, 'number'],
  ['Paid out', ({ settled_amount: settled }) => <Money amount={settled} />, 'number'],
  ['Fee', ({ fee }) => <Money amount={fee} />, 'number'],
  ['Status', ({ status }) => <Status status={status} />],
]

const types: readonly (Model<'BillType'> | '')[] = [
  ...(['', 'DEPOSIT', 'WITHDRAWAL', 'WITHDRAWAL_FEE', 'TRANSFER_IN', 'TRANSFER_OUT', 'REWARD'] as const),
  ...(['PACKAGE_PURCHASE', 'ADJUSTMENT_CREDIT', 'ADJUSTMENT_DEBIT'] as const),
]

const showDirection = (direction: string) => (direction === '1' ? 'In' : 'Out')

function Bills({ wallet }: { wallet: Wallet }) {
  const { path } = wallets[wallet]
  const currencies = useAccounts(wallet).data?.map((account) => account.currency) ?? []
  return (
    <List
      title="Transactions"
      name="transactions"
      filters={[
        { label: 'Currency', name: 'currency', values: ['', ...currencies] },
        { label: 'Direction', name: 'amountDirection', values: ['', '1', '2'], show: showDirection },
        { label: 'Type', name: 'businessId', values: types, show: showName },
        { label: 'From', name: 'beginTime', type: 'date' },
        { label: 'To', name: 'endTime', type: 'date' },
      ]}
      columns={billColumns}
      empty="No transactions here."
      request={(query: Query<'/account/bills'>) => api.GET(`${path}/bills`, { params: { query } })}
      save={(query) => api.GET(`${path}/bills/export`, { params: { query }, ...csv })}
    />
  )
}

const billColumns: Columns<Model<'Bill'>> = [
  [
    'Transaction',
    (bill) => <Heading main={showName(bill.business_id)} detail={bill.remark ?? bill.reference} />,
    'main',
  ],
  ['When', ({ occurred_at: at }) => showInstant(at)],
  [
    'Amount',
    ({ amount, currency, amount_direction: direction }) => (
      <span class={direction === 1 ? 'credit' : ''}>
        <Money amount={amount} currency={currency} sign={direction === 1 ? '+' : '−'} />
      </span>
    ),
    'number',
  ],
  ['Balance after', (bill) => <Money amount={bill.balance_after} currency={bill.currency} />, 'number'],
]

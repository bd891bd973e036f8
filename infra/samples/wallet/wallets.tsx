import { useQuery } from '@tanstack/preact-query'
import { useRoute } from 'preact-iso'
import { api, csv, dataOf, type Model, type Query } from './api.ts'
import { showInstant, showName } from './format.ts'
import { type Columns, Filter, Pages, pageSize, Table, useFilters } from './list.tsx'
import { Card, Loaded, Money, SaveButton } from './parts.tsx'

type BillQuery = Query<'/account/bills'>
type Filters = Omit<BillQuery, 'current' | 'size'>

/** The two wallets, which have the same endpoints. */
const wallets = {
  asset: {
    title: 'Asset wallet',
    accounts: () => dataOf(api.GET('/account/info')),
    value: () => dataOf(api.GET('/account/asset')),
    bills: (query: BillQuery) => dataOf(api.GET('/account/bills', { params: { query } })),
    csv: (query: Filters) => api.GET('/account/bills/export', { params: { query }, ...csv }),
  },
  reward: {
    title: 'Reward wallet',
    accounts: () => dataOf(api.GET('/bonus-account/info')),
    value: () => dataOf(api.GET('/bonus-account/asset')),
    bills: (query: BillQuery) => dataOf(api.GET('/bonus-account/bills', { params: { query } })),
    csv: (query: Filters) => api.GET('/bonus-account/bills/export', { params: { query }, ...csv }),
  },
}

type WalletName = keyof typeof wallets

/** One wallet: what it holds, and every movement that led to it. */
export function Wallets() {
  const name: WalletName = useRoute().params['wallet'] === 'reward' ? 'reward' : 'asset'
  return (
    <>
      <h1>Wallets</h1>
      <nav class="tabs" aria-label="Wallet">
        {Object.entries(wallets).map(([path, { title }]) => (
          <a key={path} href={`/wallets/${path}`} aria-current={path === name ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Holdings name={name} key={name} />
      <Bills name={name} key={name} />
    </>
  )
}

const useAccounts = (name: WalletName) =>
  useQuery({ queryKey: ['accounts', name], queryFn: wallets[name].accounts })

function Holdings({ name }: { name: WalletName }) {
  const accounts = useAccounts(name)
  const value = useQuery({ queryKey: ['value', name], queryFn: wallets[name].value })
  const valueOf = (currency: string) => value.data?.assets.find((asset) => asset.currency === currency)?.value
  const movements: Columns<Model<'Account'>> = [
    ['Deposited', ({ deposited }) => <Money amount={deposited} />, 'number'],
    ['Withdrawn', ({ withdrawal }) => <Money amount={withdrawal} />, 'number'],
  ]
  const columns: Columns<Model<'Account'>> = [
    ['Currency', ({ currency }) => <strong>{currency}</strong>, 'main'],
    ['Available', ({ balance }) => <Money amount={balance} />, 'number'],
    ['On hold', ({ hold }) => <Money amount={hold} />, 'number'],
    ...(name === 'asset' ? movements : []),
    [
      `Value in ${value.data?.currency ?? '…'}`,
      ({ currency }) => <Money amount={valueOf(currency)} />,
      'number',
    ],
  ]
  return (
    <Card title={wallets[name].title}>
      <Loaded query={accounts} lines={6}>
        {(rows) => <Table name="Holdings" rows={rows} columns={columns} empty="This wallet is empty." />}
      </Loaded>
    </Card>
  )
}

const businessIds: readonly (Model<'BillType'> | '')[] = [
  ...(['', 'DEPOSIT', 'WITHDRAWAL', 'TRANSFER_IN', 'TRANSFER_OUT', 'REWARD', 'PACKAGE_PURCHASE'] as const),
  ...(['ADJUSTMENT_CREDIT', 'ADJUSTMENT_DEBIT'] as const),
]

const showDirection = (direction: string) => (direction === '1' ? 'In' : 'Out')

function Bills({ name }: { name: WalletName }) {
  const { query: chosen, current } = useFilters()
  const { currency, businessId, beginTime, endTime } = chosen
  const amountDirection = Number(chosen['amountDirection']) || undefined
  const filters = { currency, businessId, beginTime, endTime, amountDirection }
  const query = useQuery({
    queryKey: ['bills', name, filters, current],
    queryFn: () => wallets[name].bills({ ...filters, current, size: pageSize }),
    placeholderData: (previous) => previous,
  })
  const currencies = useAccounts(name).data?.map((account) => account.currency) ?? []
  const save = <SaveButton name={`${name}-transactions.csv`} request={() => wallets[name].csv(filters)} />
  return (
    <Card title="Transactions" actions={save}>
      <search class="filters">
        <Filter label="Currency" name="currency" choices={['', ...currencies]} />
        <Filter label="Direction" name="amountDirection" choices={['', '1', '2']} show={showDirection} />
        <Filter label="Type" name="businessId" choices={businessIds} show={showName} />
        <Filter label="From" name="beginTime" type="date" />
        <Filter label="To" name="endTime" type="date" />
      </search>
      <Pages query={query} name="transactions" columns={billColumns} empty="No transactions here." />
    </Card>
  )
}

const billColumns: Columns<Model<'Bill'>> = [
  [
    'Transaction',
    ({ business_id: type, remark, reference }) => (
      <>
        <strong>{showName(type)}</strong>
        <small>
          <bdi>{remark ?? reference}</bdi>
        </small>
      </>
    ),
    'main',
  ],
  ['Booked', (bill) => showInstant(bill.created_at)],
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

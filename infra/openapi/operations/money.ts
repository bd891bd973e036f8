import { depositId } from '../../../shared/deposits/deposit.ts'
import type { CsvRecord } from '../../../shared/http/csv.ts'
import { asCsv, csvExample, type Operation } from '../operation.ts'

const account = { currency: 'USDT', balance: 120.5, hold: 10, deposited: 200, withdrawal: 69.5 }
const bill = {
  id: 'A42-7',
  currency: 'USDT',
  amount: 25.5,
  amount_direction: 1,
  business_id: 'DEPOSIT',
  balance_after: 130.5,
  reference: 'TRC20:demo-transaction-1:0',
  remark: null,
  created_at: 1_789_000_000_000,
  occurred_at: 1_788_999_990_000,
}
const listPage = (record: unknown) => ({ records: [record], total: 1, size: 20, current: 1, pages: 1 })
const asset = {
  currency: 'USDT',
  total: 6130.5,
  balance: 6120.5,
  hold: 10,
  rates_at: 1_789_000_000_000,
  assets: [
    { currency: 'BTC', balance: 0.1, hold: 0, rate: 60000, value: 6000 },
    { currency: 'USDT', balance: 120.5, hold: 10, rate: 1, value: 130.5 },
  ],
}
const deposit = {
  id: depositId({ network: 'TRC20', txid: 'demo-transaction-1', outputIndex: 0 }),
  currency: 'USDT',
  currency_network: 'TRC20',
  amount: 25.5,
  address: 'TXYZ',
  tag: null,
  txid: 'demo-transaction-1',
  output_index: 0,
  confirmations: 20,
  required_confirmations: 20,
  status: 'CREDITED',
  created_at: 1_789_000_000_000,
  occurred_at: 1_788_999_990_000,
  credited_at: 1_789_000_060_000,
}

const withdrawal = {
  id: 'withdrawal-7',
  currency: 'USDT',
  amount: 10,
  status: 'SETTLED',
  created_at: 1_789_000_000_000,
  occurred_at: 1_788_999_999_000,
  settled_at: 1_789_000_060_000,
  settled_amount: 9.5,
  fee: 0.5,
}

const { currency, currency_network, address, tag, required_confirmations, created_at } = deposit

const walletOperations = (path: string, wallet: string, examples: { account: unknown; bill: CsvRecord }) => ({
  [`GET ${path}/info`]: {
    summary: `Balances of the ${wallet} wallet`,
    description: 'One row for each currency, ordered by currency.',
    data: 'Account',
    example: [examples.account],
  },
  [`GET ${path}/bills`]: {
    summary: `Transactions of the ${wallet} wallet`,
    description:
      'One page of the bills, newest first. Dates are inclusive and select by `created_at`, the instant of booking.',
    data: 'BillPage',
    example: listPage(examples.bill),
  },
  [`GET ${path}/bills/export`]: {
    summary: `Export transactions of the ${wallet} wallet`,
    description: `The newest bills for the same filters, as JSON, or ${asCsv}`,
    data: 'BillExport',
    example: { total: 1, cap: 10_000, truncated: false, records: [examples.bill] },
    csv: csvExample(examples.bill),
  },
  [`GET ${path}/asset`]: {
    summary: `Value of the ${wallet} wallet`,
    description:
      'Every currency of the wallet, converted into the quote currency. Without a rate, `rate` and `value` are null.',
    data: 'AssetSummary',
    example: asset,
  },
})

/** Descriptions and examples of the wallet and deposit endpoints. */
export const moneyOperations: Record<string, Operation> = {
  ...walletOperations('/account', 'asset', { account, bill }),
  ...walletOperations('/bonus-account', 'reward', {
    account: { ...account, deposited: 0, withdrawal: 0 },
    bill: { ...bill, id: 'R42-7', business_id: 'REWARD', reference: 'reward-7' },
  }),
  'GET /address/info': {
    summary: 'Deposit address',
    description:
      'The caller’s deposit address for a currency on a network. The first request assigns it; it never changes.',
    failures: ['unavailable'],
    data: 'DepositAddress',
    example: { currency, currency_network, address, tag, required_confirmations, created_at },
  },
  'GET /withdrawal/records': {
    summary: 'Withdrawals',
    description:
      'One page of the withdrawals, newest first: those that are requested and held, those that are settled and those that were cancelled. Dates are inclusive and compare with `created_at`.',
    data: 'WithdrawalPage',
    example: listPage(withdrawal),
  },
  'GET /withdrawal/get/{id}': {
    summary: 'One withdrawal',
    description:
      'One withdrawal of the caller. Another user’s, an unknown and a malformed id get the same answer.',
    failures: ['not_found'],
    data: 'WithdrawalRecord',
    example: withdrawal,
  },
  'GET /deposit/records': {
    summary: 'Deposits',
    description:
      'One page of the deposits, newest first. Dates are inclusive and select by `created_at`, the instant at which the service learned of the deposit.',
    data: 'DepositPage',
    example: listPage(deposit),
  },
  'GET /deposit/get/{id}': {
    summary: 'One deposit',
    description:
      'One deposit of the caller. Another user’s, an unknown and a malformed id get the same answer.',
    failures: ['not_found'],
    data: 'DepositRecord',
    example: deposit,
  },
}

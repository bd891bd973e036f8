import type { Operation } from '../operation.ts'

const account = { currency: 'USDT', balance: 120.5, hold: 10, deposited: 200, withdrawal: 69.5 }
const bill = {
  id: '000000000042',
  currency: 'USDT',
  amount: 25.5,
  amount_direction: 1,
  business_id: 'DEPOSIT',
  balance_after: 130.5,
  reference: 'TRON:9f8e7d:0',
  remark: null,
  created_at: 1_789_000_000_000,
}
const page = (record: unknown) => ({ records: [record], total: 1, size: 20, current: 1, pages: 1 })
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
  id: 'dGhlLWRlcG9zaXQ',
  currency: 'USDT',
  currency_network: 'TRON',
  amount: 25.5,
  address: 'TXYZ',
  tag: null,
  txid: '9f8e7d',
  confirmations: 20,
  required_confirmations: 20,
  status: 'CREDITED',
  created_at: 1_789_000_000_000,
  credited_at: 1_789_000_060_000,
}

/** The two wallets and deposits. Amounts are JSON numbers with all their digits: read them as decimals, not doubles. */
export const moneyOperations: Record<string, Operation> = {
  'GET /account/info': {
    summary: 'Balances of the asset wallet',
    description: 'One row a currency, ordered by currency; `currency` filters without regard to case.',
    failures: [],
    example: [account],
  },
  'GET /account/bills': {
    summary: 'Transactions of the asset wallet',
    description: 'Any page of any filter, newest first. Dates are inclusive and select by `created_at`.',
    failures: [],
    example: page(bill),
  },
  'GET /account/asset': {
    summary: 'Value of the asset wallet',
    description:
      'Every currency converted into the quote currency; one without a rate has `rate` and `value` null.',
    failures: [],
    example: asset,
  },
  'GET /bonus-account/info': {
    summary: 'Balances of the reward wallet',
    description: 'One row a currency, ordered by currency.',
    failures: [],
    example: [{ ...account, deposited: 0, withdrawal: 0 }],
  },
  'GET /bonus-account/bills': {
    summary: 'Transactions of the reward wallet',
    description: 'Any page of any filter, newest first. Dates are inclusive and select by `created_at`.',
    failures: [],
    example: page({ ...bill, business_id: 'REWARD', reference: 'reward-7' }),
  },
  'GET /bonus-account/asset': {
    summary: 'Value of the reward wallet',
    description:
      'Every currency converted into the quote currency; one without a rate has `rate` and `value` null.',
    failures: [],
    example: asset,
  },
  'GET /address/info': {
    summary: 'Deposit address',
    description:
      'The address of the caller for a currency on a network: assigned at the first request, the same ever after.',
    failures: ['unavailable'],
    example: {
      currency: 'USDT',
      currency_network: 'TRON',
      address: 'TXYZ',
      tag: null,
      required_confirmations: 20,
      created_at: 1_789_000_000_000,
    },
  },
  'GET /deposit/records': {
    summary: 'Deposits',
    description: 'Any page, newest first. Dates are inclusive.',
    failures: [],
    example: page(deposit),
  },
  'GET /deposit/get/{id}': {
    summary: 'One deposit',
    description: 'Somebody else’s, an unknown and a malformed id are answered alike.',
    failures: ['not_found'],
    example: deposit,
  },
}

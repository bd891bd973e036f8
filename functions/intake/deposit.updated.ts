import * as v from 'valibot'
import { depositKey, type DepositStatus } from '../../shared/deposits/deposit.ts'
import { AddressTag, ChainAddress, Txid } from '../../shared/deposits/identity.ts'
import { updateDeposit } from '../../shared/deposits/update-deposit.ts'
import { Count, CurrencyCode, Instant, membersOf } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { Amount } from '../../shared/money.ts'

const statuses = {
  pending: 'PENDING',
  confirming: 'CONFIRMING',
  confirmed: 'CREDITED',
  failed: 'FAILED',
} as const satisfies Record<string, DepositStatus>

/** Updates a deposit's status and confirmations. Credits the asset wallet when the deposit is confirmed. */
export const handler = intake({
  detailType: 'deposit.updated',
  detail: membersOf({
    currency_network: CurrencyCode,
    txid: Txid,
    output_index: Count,
    address: ChainAddress,
    tag: AddressTag,
    currency: CurrencyCode,
    amount: Amount,
    status: v.picklist(Object.keys(statuses) as (keyof typeof statuses)[]),
    confirmations: Count,
    at: Instant,
  }),
  key: ({ currency_network: network, txid, output_index: outputIndex }) =>
    depositKey({ network, txid, outputIndex }),
  rejections: [
    'unknown_address',
    'wrong_currency',
    'contradicts_final_status',
    'unknown_user',
    'balance_too_large',
    'too_many_currencies',
  ],
  // All events of a deposit share this key, so `updateDeposit` relies on the status to credit only once.
  apply: ({ currency_network, txid, output_index, status, at, ...rest }, record) =>
    updateDeposit(
      {
        ...rest,
        network: currency_network,
        txid,
        outputIndex: output_index,
        status: statuses[status],
        occurredAt: at,
        eventId: record.delivery.eventId,
        bookedAt: record.delivery.bookedAt,
      },
      record,
    ),
})

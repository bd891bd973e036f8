/** The fields that all events about a user's money have in common. */
interface Money {
  user_id: number
  currency: string
  amount: string
}

/** The details of the events, as the contract defines them (section 9). */
export interface Details {
  'user.registered': {
    user_id: number
    email: string
    nickname: string
    referrer_id?: number
    login_password?: string
    totp_secret?: string
    registered_at: number
  }
  'user.updated': {
    update_id: string
    user_id: number
    at: number
    nickname?: string
    email?: string
    login_password?: string
    totp_secret?: string
    disabled?: boolean
  }
  'client.registered': {
    client_id: string
    updated_at: number
    name: string
    redirect_uris: string[]
    scopes: string[]
  }
  'device.activated': { device_id: string; at: number; user_id: number }
  'device.deactivated': { device_id: string; at: number; user_id: number }
  'traffic.reported': { report_id: string; user_id: number; device_id: string; bytes: number; at: number }
  'package.purchased': {
    purchase_id: string
    user_id: number
    amount: string
    at: number
    payment?: { wallet: Wallet; currency: string; amount: string }
  }
  'reward.granted': Money & { reward_id: string; reward_type: string; earned_on: string }
  'deposit.updated': {
    currency_network: string
    txid: string
    output_index: number
    address: string
    currency: string
    amount: string
    status: 'pending' | 'confirming' | 'confirmed' | 'failed'
    confirmations: number
    at: number
  }
  'withdrawal.updated': Money & {
    withdrawal_id: string
    status: 'requested' | 'settled' | 'cancelled'
    at: number
  }
  'wallet.transferred': Money & { transfer_id: string; from: Wallet; to: Wallet; at: number }
  'wallet.adjusted': Money & {
    adjustment_id: string
    wallet: Wallet
    direction: number
    reason: string
    at: number
  }
  'rates.published': { quote: string; as_of: number; rates: Record<string, string> }
  'addresses.provisioned': {
    batch_id: string
    currency: string
    currency_network: string
    required_confirmations: number
    addresses: { address: string }[]
  }
}

export type EventType = keyof Details
export type Wallet = 'asset' | 'reward'

/** Returns the business key of an event. Events of the same type and key are copies of each other. */
export const keyOf: { [Type in EventType]: (detail: Details[Type]) => string } = {
  'user.registered': ({ user_id }) => String(user_id),
  'user.updated': ({ update_id }) => update_id,
  'client.registered': ({ client_id, updated_at }) => `${client_id} ${updated_at}`,
  'device.activated': ({ device_id, at }) => `${device_id} ${at}`,
  'device.deactivated': ({ device_id, at }) => `${device_id} ${at}`,
  'traffic.reported': ({ report_id }) => report_id,
  'package.purchased': ({ purchase_id }) => purchase_id,
  'reward.granted': ({ reward_id }) => reward_id,
  // An event of a deposit has no id of its own, so its whole content is the key.
  'deposit.updated': (detail) => JSON.stringify(detail),
  'withdrawal.updated': ({ withdrawal_id, status }) => `${withdrawal_id} ${status}`,
  'wallet.transferred': ({ transfer_id }) => transfer_id,
  'wallet.adjusted': ({ adjustment_id }) => adjustment_id,
  'rates.published': ({ quote, as_of }) => `${quote} ${as_of}`,
  'addresses.provisioned': ({ batch_id }) => batch_id,
}

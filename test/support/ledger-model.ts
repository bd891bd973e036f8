import { Big, fitsTable, zero } from '../../shared/money.ts'
import { type BillType, billTypes } from '../../shared/ledger/bill-type.ts'
import type { WalletName } from '../../shared/ledger/wallet.ts'

/** An event of one of the kinds that the ledger model implements. */
export type LedgerEvent =
  | {
      type: 'wallet.adjusted'
      key: number
      wallet: WalletName
      currency: string
      amount: string
      direction: 1 | 2
    }
  | { type: 'wallet.transferred'; key: number; from: WalletName; currency: string; amount: string }
  | { type: 'reward.granted'; key: number; currency: string; amount: string }
  | {
      type: 'withdrawal.updated'
      key: number
      currency: string
      amount: string
      status: 'requested' | 'settled' | 'cancelled'
    }

interface ModelHolding {
  balance: Big
  hold: Big
  withdrawal: Big
}

/** A model of one user's ledger as plain sums, to compare the real ledger with. */
export class LedgerModel {
  holdings = new Map<string, ModelHolding>()
  bills: { wallet: WalletName; currency: string; type: BillType; amount: string }[] = []
  private events = new Map<string, string>()
  private withdrawals = new Map<string, { terms: string; status: string }>()

  /**
   * Applies an event to the model, and returns whether it is accepted (applied or a duplicate) or rejected.
   */
  apply(event: LedgerEvent): 'done' | 'refused' {
    const key = `${event.type} ${event.key} ${event.type === 'withdrawal.updated' ? event.status : ''}`
    const content = JSON.stringify(event)
    const earlier = this.events.get(key)
    if (earlier !== undefined) return earlier === content ? 'done' : 'refused'
    const before = { holdings: structuredCopy(this.holdings), bills: [...this.bills] }
    if (this.run(event)) {
      this.events.set(key, content)
      return 'done'
    }
    Object.assign(this, before)
    return 'refused'
  }

  private run(event: LedgerEvent): boolean {
    switch (event.type) {
      case 'wallet.adjusted': {
        const type = event.direction === 1 ? 'ADJUSTMENT_CREDIT' : 'ADJUSTMENT_DEBIT'
        return this.post(event.wallet, event.currency, type, event.amount)
      }
      case 'wallet.transferred': {
        const to = event.from === 'asset' ? 'reward' : 'asset'
        return (
          this.post(event.from, event.currency, 'TRANSFER_OUT', event.amount) &&
          this.post(to, event.currency, 'TRANSFER_IN', event.amount)
        )
      }
      case 'reward.granted':
        return this.post('reward', event.currency, 'REWARD', event.amount)
      case 'withdrawal.updated':
        return this.withdraw(event)
    }
  }

  private withdraw(event: LedgerEvent & { type: 'withdrawal.updated' }): boolean {
    const id = String(event.key)
    const terms = `${event.currency} ${event.amount}`
    const known = this.withdrawals.get(id)
    if (known !== undefined && known.terms !== terms) return false
    if (known !== undefined && (known.status !== 'requested' || event.status === 'requested')) return true
    const done =
      event.status === 'settled'
        ? (known === undefined || this.reserve(event.currency, new Big(event.amount).neg())) &&
          this.post('asset', event.currency, 'WITHDRAWAL', event.amount)
        : event.status === 'requested'
          ? this.reserve(event.currency, new Big(event.amount))
          : known === undefined || this.reserve(event.currency, new Big(event.amount).neg())
    if (done) this.withdrawals.set(id, { terms, status: event.status })
    return done
  }

  private reserve(currency: string, amount: Big): boolean {
    const holding = this.holding('asset', currency)
    holding.balance = holding.balance.minus(amount)
    holding.hold = holding.hold.plus(amount)
    return this.isSound(holding)
  }

  private post(wallet: WalletName, currency: string, type: BillType, amount: string): boolean {
    const holding = this.holding(wallet, currency)
    holding.balance = billTypes[type] === 1 ? holding.balance.plus(amount) : holding.balance.minus(amount)
    if (type === 'WITHDRAWAL') holding.withdrawal = holding.withdrawal.plus(amount)
    this.bills.push({ wallet, currency, type, amount })
    return this.isSound(holding)
  }

  private isSound({ balance, hold, withdrawal }: ModelHolding): boolean {
    return (
      balance.gte('0') && hold.gte('0') && [balance, hold, withdrawal, balance.plus(hold)].every(fitsTable)
    )
  }

  private holding(wallet: WalletName, currency: string): ModelHolding {
    const name = `${wallet} ${currency}`
    const holding = this.holdings.get(name) ?? { balance: zero, hold: zero, withdrawal: zero }
    this.holdings.set(name, holding)
    return holding
  }
}

const structuredCopy = (holdings: Map<string, ModelHolding>) =>
  new Map([...holdings].map(([name, holding]) => [name, { ...holding }]))

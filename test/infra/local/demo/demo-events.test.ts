import { expect, it } from 'vitest'
import { type DemoEvent, demoStages } from '../../../../infra/local/demo/demo-events.ts'
import { Big, zero } from '../../../../shared/money.ts'

const alice = 1001

/** What an event adds to Alice's asset wallet when it is applied, or moves from her balance to the hold. */
function assetChange({ detailType, detail }: DemoEvent): { currency: string; change: Big } | undefined {
  const { user_id, currency, amount, status, address } = detail as Record<string, string>
  const change = (sign: '1' | '-1') => ({
    currency: String(currency),
    change: new Big(String(amount)).times(sign),
  })
  if (detailType === 'deposit.updated' && address) return status === 'confirmed' ? change('1') : undefined
  if (Number(user_id) !== alice) return undefined
  if (detailType === 'wallet.adjusted' || detailType === 'wallet.transferred') return change('1')
  return detailType === 'withdrawal.updated' && status === 'requested' ? change('-1') : undefined
}

it.each([
  ['USDT', 'USDT'],
  ['EUR', 'USDT'],
  ['USDT', 'POINT'],
  ['BTC', 'POINT'],
])('with the quote currency %s and the reward currency %s, the demo withdraws what Alice has', (...pair) => {
  const [quoteCurrency, rewardCurrency] = pair
  const balances = new Map<string, Big>()
  const events = demoStages({ firstStart: Date.UTC(2026, 0, 1), quoteCurrency, rewardCurrency }).flat()
  for (const { currency, change } of events.flatMap((event) => assetChange(event) ?? []))
    balances.set(currency, (balances.get(currency) ?? zero).plus(change))
  expect([...balances].filter(([, balance]) => balance.lt(zero))).toStrictEqual([])
})

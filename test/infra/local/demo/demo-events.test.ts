import { describe, expect, it } from 'vitest'
import { demoStages } from '../../../../infra/local/demo/demo-events.ts'

const setting = { firstStart: 1_750_000_000_000, quoteCurrency: 'USDT', rewardCurrency: 'USDT' }
const everything = () => demoStages(setting).flat()

describe('the demo data', () => {
  it('every event of the demo data has a different key', () => {
    const keys = everything().map(({ detailType, detail: { status, output_index: output, ...detail } }) =>
      JSON.stringify([detailType, Object.values(detail)[0], status, output]),
    )
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('the demo data registers referrers before the users they referred, three levels deep', () => {
    const registered = everything().filter(({ detailType }) => detailType === 'user.registered')
    const levels = new Map<unknown, number>([[undefined, -1]])
    for (const { detail } of registered) {
      const above = levels.get(detail.referrer_id)
      expect(above, JSON.stringify(detail)).toBeDefined()
      levels.set(detail.user_id, (above ?? 0) + 1)
    }
    expect(Math.max(...levels.values())).toBe(3)
  })

  it.each(['USDT', 'EUR'])(
    'the demo data has no rate of the quote currency %s against itself',
    (quoteCurrency) => {
      const [rates] = demoStages({ ...setting, quoteCurrency })
        .flat()
        .filter(({ detailType }) => detailType === 'rates.published')
      expect(rates?.detail.quote).toBe(quoteCurrency)
      expect(rates?.detail.rates).not.toHaveProperty(quoteCurrency)
    },
  )
})

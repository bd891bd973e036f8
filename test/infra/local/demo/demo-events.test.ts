import { describe, expect, it } from 'vitest'
import { deposits, firstStage, laterStages } from '../../../../infra/local/demo/demo-events.ts'

const setting = { firstStart: 1_750_000_000_000, quoteCurrency: 'USDT', rewardCurrency: 'USDT' }
const everything = () => [
  ...firstStage(setting),
  ...laterStages(setting).flat(),
  ...deposits(setting, ['TDemo1', 'bc1qdemo1']),
]

describe('the demo data', () => {
  it('the demo data is the same at every start of a data directory', () => {
    expect(everything()).toEqual(everything())
  })

  it('every event of the demo data has a different key', () => {
    const keys = everything().map(({ detailType, detail: { status, ...detail } }) =>
      JSON.stringify([detailType, Object.values(detail)[0], status]),
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
      const [rates] = laterStages({ ...setting, quoteCurrency })
        .flat()
        .filter(({ detailType }) => detailType === 'rates.published')
      expect(rates?.detail.quote).toBe(quoteCurrency)
      expect(rates?.detail.rates).not.toHaveProperty(quoteCurrency)
    },
  )
})

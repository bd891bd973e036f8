import { beforeAll, expect, it } from 'vitest'
import { handler as ratesPublished } from '../../functions/intake/rates.published.ts'
import { handler as walletAdjusted } from '../../functions/intake/wallet.adjusted.ts'
import { settings } from '../../shared/settings.ts'
import { applyEvent } from './apply-event.ts'
import { callAs, scopeRefusal, scopesWithout } from './call-as.ts'
import { addUser, adjustment } from './ledger.ts'
import type { Endpoint } from '../../shared/http/endpoint.ts'
import type { WalletName } from '../../shared/ledger/wallet.ts'

/** Tests an endpoint that converts a wallet into the quote currency. */
export function testAsset(endpoint: string, handler: Endpoint, wallet: WalletName): void {
  const call = callAs(handler, 'account.read')
  const otherWallet = wallet === 'asset' ? 'reward' : 'asset'
  const asOf = Date.now()
  let owner: number

  beforeAll(async () => {
    owner = await addUser()
    for (const [currency, amount] of [
      ['USDT', '7.25'],
      ['BTC', '0.000000000000000003'],
      ['UNRATED', '5'],
    ])
      await applyEvent(walletAdjusted, adjustment(owner, { wallet, currency, amount }))
    await applyEvent(walletAdjusted, adjustment(owner, { wallet: otherWallet, currency: 'BTC' }))
    const quote = settings().quoteCurrency
    await applyEvent(ratesPublished, { quote, as_of: asOf, rates: { BTC: '50000.5' } })
  })

  it(`${endpoint} converts the ${wallet} wallet into the quote currency, with all digits`, async () => {
    const { status, code, text } = await call(owner)
    expect([status, code]).toEqual([200, 0])
    const total = '7.2500000000001500015'
    expect(text).toContain(
      `"data":{"currency":"USDT","total":${total},"balance":${total},"hold":0,"rates_at":${asOf},"assets":[` +
        '{"currency":"BTC","balance":0.000000000000000003,"hold":0,"rate":50000.5,"value":0.0000000000001500015},' +
        '{"currency":"UNRATED","balance":5,"hold":0,"rate":null,"value":null},' +
        '{"currency":"USDT","balance":7.25,"hold":0,"rate":1,"value":7.25}]}',
    )
  })

  it(`${endpoint} of a user without money has the total 0 and no assets`, async () => {
    const { data } = await call(await addUser(), { query: `user_id=${owner}` })
    expect(data).toEqual({ currency: 'USDT', total: 0, balance: 0, hold: 0, rates_at: asOf, assets: [] })
  })

  it(`${endpoint} refuses a token without account.read`, async () => {
    expect(await call(owner, { scopes: scopesWithout('account.read') })).toMatchObject(scopeRefusal)
  })
}

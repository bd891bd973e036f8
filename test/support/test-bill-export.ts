import { beforeAll, expect, it } from 'vitest'
import { handler as walletAdjusted } from '../../functions/intake/wallet.adjusted.ts'
import { applyEvent } from './apply-event.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from './call-as.ts'
import { addUser, adjustment } from './ledger.ts'
import type { Endpoint } from '../../shared/http/endpoint.ts'
import type { WalletName } from '../../shared/ledger/wallet.ts'

/** Tests an endpoint that exports the bills of a wallet. Its file is called `fileName`. */
export function testBillExport(
  endpoint: string,
  handler: Endpoint,
  wallet: WalletName,
  fileName: string,
): void {
  const call = callAs(handler, 'account.read')
  const otherWallet = wallet === 'asset' ? 'reward' : 'asset'
  // The first letter of a bill's id.
  const letter = wallet === 'asset' ? 'A' : 'R'
  let owner: number

  beforeAll(async () => {
    owner = await addUser()
    const own = { wallet, amount: '0.100000000000000001', reason: '=1+1, "x"' }
    await applyEvent(walletAdjusted, adjustment(owner, own))
    await applyEvent(walletAdjusted, adjustment(owner, { ...own, currency: 'BTC', reason: 'plain' }))
    await applyEvent(walletAdjusted, adjustment(owner, { wallet: otherWallet }))
  })

  it(`${endpoint} has the bills of the ${wallet} wallet, newest first, with all digits`, async () => {
    const { status, code, data, text } = await call(owner)
    expect([status, code]).toEqual([200, 0])
    expect(data).toMatchObject({
      records: [
        { id: `${letter}${owner}-2`, currency: 'BTC' },
        { id: `${letter}${owner}-1`, currency: 'USDT' },
      ],
      ...{ total: 2, cap: 10_000, truncated: false },
    })
    expect(text).toContain('"amount":0.100000000000000001,')
  })

  it(`${endpoint} as CSV is an attachment with a line for each bill, newest first`, async () => {
    const { status, headers, text } = await call(owner, { headers: { accept: 'text/csv' } })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${fileName}"`,
    })
    const [head, newest, oldest, ...rest] = text.split('\r\n')
    expect(head).toBe(
      '\ufeffid,currency,amount,amount_direction,business_id,balance_after,reference,remark,' +
        'created_at,created_at_iso,occurred_at,occurred_at_iso',
    )
    const amounts = '0.100000000000000001,1,ADJUSTMENT_CREDIT,0.100000000000000001'
    expect(newest).toContain(`${letter}${owner}-2,BTC,${amounts},`)
    expect(newest).toMatch(/,plain,\d{13},2.*Z,1700000000000,2023-11-14T22:13:20\.000Z$/)
    expect(oldest).toContain(`${letter}${owner}-1,USDT,${amounts},`)
    expect(rest).toEqual([''])
  })

  it(`${endpoint} as CSV has no cell that a spreadsheet would run`, async () => {
    const { text } = await call(owner, { headers: { accept: 'text/csv' }, query: 'currency=USDT' })
    expect(text).toContain(`,"'=1+1, ""x""",`)
  })

  it.each([
    ['currency=btc&businessId=ADJUSTMENT_CREDIT', 1],
    ['amountDirection=2', 0],
    ['businessId=nothing', 0],
    ['beginTime=2026-01-01&endTime=2999-01-01', 2],
    ['endTime=1970-01-01', 0],
  ])(`${endpoint}?%s has %i of two bills`, async (query, total) => {
    const { data } = await call(owner, { query })
    expect(data).toMatchObject({ total, truncated: false })
    expect((data as { records: object[] }).records).toHaveLength(total)
  })

  it(`${endpoint} is empty for another user, whatever id the query names`, async () => {
    const { data } = await call(await addUser(), { query: `user_id=${owner}` })
    expect(data).toEqual({ records: [], total: 0, cap: 10_000, truncated: false })
  })

  it.each([
    ['amountDirection=3', 'amountDirection'],
    ['beginTime=2026-02-30', 'beginTime'],
    ['beginTime=2026-02-02&endTime=2026-02-01', 'endTime'],
    ['currency=BTC&currency=USDT', 'currency'],
  ])(`${endpoint}?%s is refused because of %s`, async (query, parameter) => {
    expect(await call(owner, { query })).toMatchObject(refusalOf(parameter))
  })

  it(`${endpoint} refuses a token without account.read`, async () => {
    expect(await call(owner, { scopes: scopesWithout('account.read') })).toMatchObject(scopeRefusal)
  })
}

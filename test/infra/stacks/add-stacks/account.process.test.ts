import { expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../../../infra/bundle/page.ts'
import { everything } from '../../../support/configured-stage.ts'
import { Account } from '../account.ts'
import { synthesizeUnchecked } from '../synthesize.ts'

await bundleAuthorizationPage()
const prod = await synthesizeUnchecked('prod', { values: everything })
const failover = await synthesizeUnchecked('prod', { values: { ...everything, failover: 'restored' } })

it('two stages with all options can be in one region of an account: they share no name and no identifier', async () => {
  const account = new Account()
  expect(account.deploy(prod)).toEqual([])
  expect(account.deploy(await synthesizeUnchecked('trial', { values: everything }))).toEqual([])
})

it('a stage can fail over twice, because deleting the first failover’s stacks frees all names', () => {
  const account = new Account()
  for (let time = 1; time <= 2; time += 1) {
    expect(account.deploy(prod), `in its own region, time ${time}`).toEqual([])
    expect(account.deploy(failover), `failover ${time}`).toEqual([])
    account.destroy(failover)
  }
})

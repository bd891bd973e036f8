import { tableName } from '../../../shared/db/table.ts'
import { readWallet } from '../../../shared/ledger/wallet.ts'
import { adjustment, describeWallet } from '../../support/ledger.ts'
import { createClient } from '../../support/oauth-clients.ts'
import { createUser, newRegistration } from '../../support/sign-in.ts'
import { follow } from './follow.ts'
import { peopleOf } from './people.ts'
import { openTables, tearApart } from './restore-table.ts'
import { sendEvents } from './send-events.ts'

export type Before = Awaited<ReturnType<typeof actInLostRegion>>

/**
 * What happens before the region is lost: sign-ins, a client with a secret, bookings, and a key that is
 * published. The last bookings have not reached the standby region, whose items are in the result, and one
 * has reached it in part.
 */
export async function actInLostRegion(url: string, layout: Record<string, unknown>, directory: string) {
  const people = peopleOf(url)
  const procedure = follow('A lost region', url)
  const tables = openTables(layout)
  const session = await people.signIn()
  const newcomer = await createUser()
  const client = await createClient({ secret: 'a secret of 32 characters or more' })
  const { userId } = session.user
  const registration = { 'detail-type': 'user.registered', detail: newRegistration() }
  const booking = () => ({ 'detail-type': 'wallet.adjusted', detail: adjustment(userId, { amount: '0.1' }) })
  const replicated = [registration, ...Array.from({ length: 3 }, booking)]
  await sendEvents(procedure, replicated, directory)
  await follow('A new key that fails its check', url).ops('keys rotate')
  const earlier = await tables.takeSnapshot(tableName())
  const torn = booking()
  const tornAt = Date.now()
  await sendEvents(procedure, [torn], directory)
  const items = tearApart(earlier.items, (await tables.takeSnapshot(tableName())).items)
  const late = Array.from({ length: 2 }, booking)
  await sendEvents(procedure, late, directory)
  tables.close()
  const asset = { userId, wallet: 'asset' } as const
  const { holdings } = describeWallet(await readWallet(asset, { consistent: true }))
  return {
    tornAt,
    session,
    newcomer,
    client,
    asset,
    holdings,
    replicated,
    unreplicated: [torn, ...late],
    directory,
    items,
  }
}

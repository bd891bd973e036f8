import { expect } from 'vitest'
import { indexKey } from '../../../shared/community/search/index/items.ts'
import { readItem } from '../../../shared/db/read.ts'
import type { Pool } from '../../../shared/deposits/address-pool.ts'
import { listClients } from '../../../shared/oauth/client.ts'
import { createAccessToken } from '../../support/community.ts'
import { newPool, provision } from '../../support/deposits.ts'
import { adjustment } from '../../support/ledger.ts'
import { putEvents } from '../../support/put-event.ts'
import { createUser, newRegistration } from '../../support/sign-in.ts'
import { addressPath, readEverything, settle } from './answers.ts'
import { pollOptions } from './follow.ts'
import { peopleOf } from './people.ts'
import { drawTown, newTown } from './waves.ts'

/** What happens before, during and after the loss of a table, drawn once for all stacks. */
export type Life = ReturnType<typeof drawLife>

/** What clients and all users of a life are answered. */
export type LifeAnswers = Awaited<ReturnType<typeof readLife>>

export function drawLife() {
  const [kept, ended] = [newRegistration(), newRegistration()]
  const adjust = (count: number, changes: object) =>
    Array.from({ length: count }, () => adjustment(Number(kept['user_id']), changes))
  const pool = newPool()
  return {
    kept,
    ended,
    pool,
    addresses: provision(pool, 3),
    /** Before the point to which the table is restored, after it, and while it is being restored. */
    adjustments: {
      before: adjust(5, { amount: '0.1' }),
      after: adjust(7, { amount: '0.01' }),
      late: adjust(1, { amount: '0.55', direction: 2 }),
    },
    town: drawTown(),
  }
}

/** Lives on a stack that never fails. Resolves with how to read what its users are answered then. */
export async function liveUnharmed(url: string, life: Life): Promise<() => Promise<LifeAnswers>> {
  const { before, after, late } = life.adjustments
  const town = newTown(url, peopleOf(url), life.town)
  await putEvents('addresses.provisioned', [life.addresses])
  const [kept, ended] = [await createUser(life.kept), await createUser(life.ended)]
  await putEvents('wallet.adjusted', before)
  await settle(url)
  for (const { userId } of [kept, ended]) await askForAddress(url, userId, life.pool)
  for (let waves = life.town.waves.length; waves > 0; waves -= 1) await town.wave()
  await putEvents('wallet.adjusted', after)
  await settle(url)
  await putEvents('wallet.adjusted', late)
  await settle(url)
  return async () => {
    await expectSearchIndex(life)
    return readLife(url, life)
  }
}

/** Reads what the town's clients and users are answered. */
export const readTown = async (url: string, { town: { clientId, persons, neighbour, pool } }: Life) => ({
  clients: (await listClients()).filter((client) => client.clientId.startsWith(clientId)),
  users: await readEverything(
    url,
    [...persons, neighbour].map(({ userId }) => userId),
    pool.network,
  ),
})

/** Reads what all users are answered, and the clients, of whose secrets each stack has MACs of its own. */
export async function readLife(url: string, life: Life, town = readTown(url, life)) {
  const { clients, users } = await town
  const others = [life.kept, life.ended].map((registration) => Number(registration['user_id']))
  return {
    clients: clients.map(({ secretMac, ...client }) => ({
      ...client,
      isConfidential: secretMac !== undefined,
    })),
    users: { ...users, ...(await readEverything(url, others, life.pool.network)) },
  }
}

/** Expects a complete search index of the town’s largest list, by which its owner’s searches go then. */
export async function expectSearchIndex({ town: { persons } }: Life): Promise<void> {
  const ownerId = persons[0]?.userId ?? expect.unreachable()
  const isComplete = async () =>
    (await readItem(indexKey({ kind: 'COMMUNITY', ownerId }), { consistent: true })) !== undefined
  await expect.poll(isComplete, pollOptions).toBe(true)
}

/**
 * Expects the same answers of two stacks, but for which address of its pool a user has, and since when: each
 * address of one stack stands for exactly one of the other.
 */
export function expectSame(actual: LifeAnswers, unharmed: LifeAnswers): void {
  const [ours, theirs] = [actual, unharmed].map(({ users }) => takeAddresses(users))
  const pairs = [...(ours ?? [])].map(([user, address]) => [address, theirs?.get(user)] as const)
  for (const side of [0, 1]) expect(new Set(pairs.map((pair) => pair[side])).size).toBe(theirs?.size)
  const translations = new Map(pairs)
  const text = JSON.stringify(actual).replaceAll(
    /0x[\da-f-]{36}/g,
    (address) => translations.get(address) ?? address,
  )
  expect(JSON.parse(text)).toEqual(unharmed)
}

/** The deposit address of each user; takes the instants at which they got them out of the answers. */
function takeAddresses(users: LifeAnswers['users']): Map<string, string> {
  const asked = Object.entries(users).filter(([question]) => question.includes(' /address/info'))
  return new Map(
    asked.map(([question, answer]) => {
      const { data } = answer as { data: { address: string; created_at?: number } }
      delete data.created_at
      return [question.split(' ', 1).join(), data.address]
    }),
  )
}

/** The deposit address that a user is answered, or the status of a failure. */
export async function askForAddress(
  url: string,
  userId: number,
  { network }: Pool,
): Promise<string | number> {
  const token = await createAccessToken(userId, ['deposit.read'])
  const response = await fetch(url + addressPath(network), { headers: { authorization: `Bearer ${token}` } })
  const { data } = (await response.json()) as { data: { address: string } | null }
  return data?.address ?? response.status
}

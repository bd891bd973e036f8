import { describe, expect, it } from 'vitest'
import { partitions } from '../../infra/catalogue/reach.ts'
import type { Permissions } from '../../infra/permissions.ts'
import { events } from '../../infra/events.ts'
import { routes } from '../../infra/routes.ts'
import { billTypes } from '../../shared/ledger/bill-types.ts'
import { schedules, workers } from '../../infra/workers-and-schedules.ts'

const rows: { name: string; permissions: Permissions }[] = [
  ...routes.map(({ entry, permissions }) => ({ name: entry, permissions })),
  ...events.map(({ detailType, permissions }) => ({ name: detailType, permissions })),
  ...[...workers, ...schedules],
]

const whoMay = (partition: RegExp, ...any: string[]): string[] => {
  const may = (permissions: Permissions) => partitions(permissions, any).some((key) => partition.test(key))
  return [...new Set(rows.filter(({ permissions }) => may(permissions)).map(({ name }) => name))].sort()
}
const reads = ['GetItem', 'BatchGetItem', 'Query'] as const
const writes = ['PutItem', 'UpdateItem', 'DeleteItem'] as const

describe('partitions', () => {
  it('only the rotation writes the key set', () => {
    expect(whoMay(/^KEYS/, ...writes)).toEqual(['rotate-signing-keys'])
  })

  it('only the endpoints for sign-in and code exchange may issue tokens', () => {
    expect(whoMay(/^TOKENS#/, 'PutItem', 'UpdateItem')).toEqual(['oauth2/token', 'user/login-2fa'])
  })

  it('only code exchange, revocation, logout and the handler of user.updated may end tokens', () => {
    expect(whoMay(/^TOKENS#/, 'DeleteItem')).toEqual(['oauth2/revoke', 'oauth2/token', 'user/logout'])
    expect(whoMay(/^ENDED#/, ...writes)).toEqual(['user.updated'])
  })

  it('only the handlers of events that move money may write wallets and bills', () => {
    const ledger = [...new Set(Object.values(billTypes).map(({ event }) => event))].sort()
    expect(whoMay(/^(W|BL)#/, ...writes)).toEqual(ledger)
    expect(whoMay(/^W#/, ...writes)).toEqual(ledger)
  })

  it('only the handler of mail.delayed may read sign-in records', () => {
    expect(whoMay(/^SIGNIN#/, ...reads)).toEqual(['mail.delayed'])
  })

  it('only the sign-in endpoints and the handlers of user events may write sign-in records', () => {
    expect(whoMay(/^SIGNIN#/, ...writes)).toEqual([
      'user.registered',
      'user.updated',
      'user/login-2fa',
      'user/login-with-password',
    ])
  })

  it('no GET endpoint may write, but for assigning a deposit address and counting searches', () => {
    const mayWrite = routes.filter(({ method }) => method !== 'POST').map(({ entry }) => entry)
    const all = whoMay(/./, ...writes).filter((name) => mayWrite.includes(name))
    expect(all).toEqual(['address/info', 'community/export', 'community/members'])
  })

  it('a function that handles an event may read and write only the event records of its own detail-type', () => {
    for (const { name, permissions } of rows) {
      const keys = partitions(permissions, [...reads, ...writes])
      for (const key of keys.filter((one) => one.startsWith('EVT#')))
        expect([`EVT#${name}#`, `EVT#${name}.chunk#`]).toContain(key)
    }
  })

  it('a public endpoint may read tokens only if it exchanges or revokes tokens', () => {
    const open = routes.filter((route) => route.public).map(({ entry }) => entry)
    const readers = whoMay(/^TOKENS#/, ...reads).filter((name) => open.includes(name))
    expect(readers).toEqual(['oauth2/exchange', 'oauth2/revoke', 'oauth2/token'])
  })
})

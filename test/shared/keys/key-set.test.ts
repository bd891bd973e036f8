import * as v from 'valibot'
import { expect, it } from 'vitest'
import { Attempt, SigningKeySet, thumbprint } from '../../../shared/keys/key-set.ts'

it('the kid of the key in RFC 7638 §3.1 is the thumbprint given there', async () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'
  expect(await thumbprint({ n, e: 'AQAB' })).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
})

it('an attempt that was stored before attempts named their key can be read', () => {
  const number = (value: number) => ({ value: String(value) })
  const trigger = { kind: 'clock', request_id: 'request', requested_by: null }
  const attempt = { id: 'attempt', started_at: number(1), purpose: 'publish', replaces: null, trigger }
  expect(v.parse(Attempt, attempt)).toMatchObject({ arn: null, listed_before: null, refused: false })
})

it('a key set that was stored with the former names of drain_ms and orphaned_attempts can be read', () => {
  const number = (value: number) => ({ value: String(value) })
  const key = {
    ...{ kid: 'kid', arn: 'arn', n: 'n', e: 'AQAB', state: 'active' },
    ...{ published_at: number(1), active_at: number(2), retiring_at: null, retired_at: null },
    remove_after: null,
  }
  const orphan = { id: 'attempt', started_at: number(3) }
  const common = { version: number(4), sequence: number(5), evidence_hash: 'hash', attempt: null }
  const now = { ...common, keys: [{ ...key, drain_ms: number(6) }], orphaned_attempts: [orphan] }
  const before = { ...common, keys: [{ ...key, afterlife_milliseconds: number(6) }], strays: [orphan] }
  expect(v.parse(SigningKeySet, before)).toEqual(v.parse(SigningKeySet, now))
})

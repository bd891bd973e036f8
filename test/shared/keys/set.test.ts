import { expect, it } from 'vitest'
import { emptyKeySet, readKeySet, thumbprint, writeKeySet } from '../../../shared/keys/set.ts'
import { useMemoryTable } from '../../support/memory-table.ts'

// Eventually consistent reads find nothing.
useMemoryTable(() => () => 60_000)

it('the kid of the key in RFC 7638 §3.1 is the thumbprint given there', () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'
  expect(thumbprint({ n, e: 'AQAB' })).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
})

it('the key set is read as it was written last', async () => {
  expect(await writeKeySet(emptyKeySet, { ...emptyKeySet, sequence: 7 })).toBe(true)
  expect(await readKeySet()).toMatchObject({ version: 1, sequence: 7 })
})

it('a key set that has changed since it was read is not replaced', async () => {
  const read = await readKeySet()
  expect(await writeKeySet(read, { ...read, sequence: 8 })).toBe(true)
  expect(await writeKeySet(read, { ...read, sequence: 9 })).toBe(false)
  expect((await readKeySet()).sequence).toBe(8)
})

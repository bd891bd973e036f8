import { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { comparePositions, type MemberList } from '../../../../../shared/community/list/node.ts'
import { matchesText, toKeyword, toSearchText } from '../../../../../shared/community/search/keyword.ts'
import {
  emptyIndex,
  membersKey,
  membersPerItem,
  packMembers,
  type SearchIndex,
  toIndexed,
} from '../../../../../shared/community/search/index/items.ts'
import { searchIndex } from '../../../../../shared/community/search/index/search.ts'
import { prepareSegment } from '../../../../../shared/community/search/index/segment.ts'
import { db, type Item, type Key, tableName } from '../../../../../shared/db/table.ts'
import { normalizeEmail } from '../../../../../shared/users/identity.ts'
import { matches } from '../../../../support/community-model.ts'
import { asStored } from '../../../../support/as-stored.ts'

const list: MemberList = { kind: 'COMMUNITY', ownerId: 1 }

function serve(items: readonly (Item & Key)[]): void {
  const stored = new Map(items.map((item) => [`${item.pk} ${item.sk}`, asStored(item)]))
  const send = async (command: unknown): Promise<object> => {
    if (!(command instanceof BatchGetCommand)) throw new Error('a search of an index makes no such call')
    const keys = (command.input.RequestItems?.[tableName()]?.Keys ?? []) as Key[]
    const found = keys.flatMap(({ pk, sk }) => stored.get(`${pk} ${sk}`) ?? [])
    return { Responses: { [tableName()]: found } }
  }
  vi.spyOn(db, 'send').mockImplementation(send as never)
}

interface Person {
  userId: number
  nickname: string
  email: string
  joinedAt: number
}

/**
 * Returns a pseudo-random generator. fast-check would shrink long arrays slowly, so it chooses only the seed.
 */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const words = [
  'Ann',
  'Maximiliana Alexandrina von und zu Hohenlohe',
  'Anna',
  'BOB',
  'Çelik',
  'Bobby',
  'Ann-Bo',
  '李 雷',
  '𝒳 Æ',
  'A',
]
const domains = [
  'Example.com',
  'mail.test',
  'annabo.bo',
  'a-rather-long-subdomain.of-a-company.example',
  'ÅNGSTRÖM.se',
]

function inventPeople(size: number, spread: number, random: (below: number) => number): Person[] {
  const pick = (from: readonly string[]) => from[random(Math.min(spread, from.length))] ?? ''
  return Array.from({ length: size }, (_, i) => ({
    userId: 2 + i,
    nickname: [pick(words), pick(words), String(random(spread))].slice(random(3)).join(' '),
    email: `${pick(words).slice(0, 3).replace(' ', '')}${random(spread)}.${i}@${pick(domains)}`,
    joinedAt: random(1 + random(size)),
  }))
}

function indexPeople(people: readonly Person[], random: (below: number) => number, segments: number) {
  const items: (Item & Key)[] = []
  const index: SearchIndex = structuredClone(emptyIndex)
  const isSorted = random(2) === 0
  const byPlace = Map.groupBy(people, ({ joinedAt }) =>
    isSorted ? Math.floor((joinedAt * (segments + 1)) / people.length) : random(segments + 1),
  )
  for (const [place, placed] of byPlace) {
    const members = placed.map(toIndexed).sort(comparePositions)
    if (place < segments) {
      const { segment, items: segmentItems } = prepareSegment(list, String(place), members)
      items.push(...segmentItems())
      index.segments.push(segment)
    } else
      for (let i = 0; i < members.length; i += membersPerItem) {
        const part = packMembers(members.slice(i, i + membersPerItem), 1)
        items.push({ ...membersKey(list, 'tail', index.tail.to), ...part })
        index.tail.to += 1
      }
  }
  return { index, items }
}

function inventKeyword(people: readonly Person[], random: (below: number) => number): string {
  const { nickname, email } = people[random(people.length)] as Person
  const { nickname: name, maskedEmail } = toSearchText({ nickname, email })
  if (random(6) === 0) return email.toUpperCase()
  if (random(6) === 0) return nickname
  const text = [name, maskedEmail, maskedEmail.toUpperCase(), 'bo', 'nobody'][random(5)] ?? ''
  const start = text === name ? 0 : random(text.length)
  return text.slice(start, start + 1 + random(text.length)).trim() || 'x'
}

const runs = Number(process.env['RUNS'] ?? 40)

it(
  'a search index finds exactly the members that match a keyword and a period, whatever segments they are in',
  async () => {
    const shapes = fc.record({
      seed: fc.nat(),
      size: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 400, max: 1_500 })),
      spread: fc.constantFrom(1, 2, 1_000),
      segments: fc.integer({ min: 0, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(shapes, async ({ seed, size, spread, segments }) => {
        const random = randomFrom(seed)
        const people = inventPeople(size, spread, random)
        const { index, items } = indexPeople(people, random, segments)
        serve(items)
        for (let search = 0; search < 8; search += 1) {
          const text = inventKeyword(people, random)
          const keyword = toKeyword(text)
          const from = random(3) === 0 ? random(size) : undefined
          const before = random(3) === 0 ? random(size) : undefined
          const expected = people
            .filter((person) => matches(person, text))
            .filter(({ joinedAt }) => joinedAt >= (from ?? 0) && joinedAt < (before ?? Infinity))
            .sort((one, other) => comparePositions(other, one))
          const window = { skip: random(expected.length + 2), take: 1 + random(20) }
          const found = await searchIndex(list, index, {
            keyword,
            from,
            before,
            ...window,
            count: size,
            // The index has only masked addresses, so this callback finds the owner of a full address.
            findOther: async () =>
              people.find(
                (person) =>
                  normalizeEmail(person.email) === keyword.address &&
                  !matchesText(toSearchText(person), keyword),
              ),
            reserve: async () => undefined,
            consistent: false,
          })
          expect({ text, total: found?.total, ids: found?.entries.map(({ userId }) => userId) }).toEqual({
            text,
            total: expected.length,
            ids: expected.slice(window.skip, window.skip + window.take).map(({ userId }) => userId),
          })
        }
      }),
      { numRuns: runs },
    )
  },
  runs * 2_000,
)

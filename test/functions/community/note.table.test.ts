import { beforeAll, expect, it } from 'vitest'
import { handler as members } from '../../../functions/community/members.ts'
import { handler } from '../../../functions/community/note.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { newUserIds } from '../../support/community.ts'
import { addSmallFamily, type SmallFamily } from '../../support/small-family.ts'

const call = callAs(handler, 'community.write')
const list = callAs(members, 'community.read')

let family: SmallFamily

const setNote = (target: unknown, note: unknown, caller = family.root) =>
  call(caller, { body: { target_user_id: target, note } })

/** The notes that the root sees on the child and the grandchild. */
async function notes(): Promise<unknown[]> {
  const { data } = await list(family.root, { query: 'type=COMMUNITY&current=1&size=20' })
  return (data as { records: { note: unknown }[] }).records.map(({ note }) => note).toReversed()
}

beforeAll(async () => {
  family = await addSmallFamily()
})

it('a note on a direct referral is shown to its author, trimmed, until an empty one clears it', async () => {
  expect(await setNote(family.child, ' hi ')).toMatchObject({ status: 200, code: 0, data: null })
  expect(await notes()).toEqual(['hi', null])
  expect(await setNote(family.child, '')).toMatchObject({ status: 200, code: 0, data: null })
  expect(await notes()).toEqual(['', null])
})

it('a note replaces the earlier one', async () => {
  await setNote(family.child, 'one')
  await setNote(String(family.child), 'two')
  expect(await notes()).toEqual(['two', null])
})

it('a note may have 20 characters, counted as code points after trimming', async () => {
  const note = '🦊'.repeat(20)
  expect(await setNote(family.child, ` ${note} `)).toMatchObject({ code: 0 })
  expect(await notes()).toEqual([note, null])
})

it.each(['grandchild', 'root'] as const)('a note on the %s is forbidden to the root', async (target) => {
  expect(await setNote(family[target], 'x')).toMatchObject({ status: 403, code: 40301, data: null })
})

it('a note on the caller’s referrer is forbidden', async () => {
  const answer = await setNote(family.root, 'x', family.child)
  expect(answer).toMatchObject({ status: 403, code: 40301, data: null })
})

it('a note on nobody is forbidden', async () => {
  const answer = await setNote(newUserIds(), 'x')
  expect(answer).toMatchObject({ status: 403, code: 40301, data: null })
  expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope"')
})

it.each([
  ['a note of 21 characters', { note: 'x'.repeat(21) }, 'note'],
  ['a control character', { note: 'a\nb' }, 'note'],
  ['a number as note', { note: 7 }, 'note'],
  ['no note', { note: undefined }, 'note'],
  ['no target', { target_user_id: undefined }, 'target_user_id'],
  ['the target 0', { target_user_id: 0 }, 'target_user_id'],
  ['a target that is no number', { target_user_id: 'me' }, 'target_user_id'],
])('community/note with %s is refused', async (_what, change, field) => {
  const body = { target_user_id: family.child, note: 'x', ...change }
  expect(await call(family.root, { body })).toMatchObject(refusalOf(field))
})

it.each(['{', '', 'null', '7', '"x"', '[]'])(
  'community/note refuses the body %j, no JSON object',
  async (text) => {
    expect(await call(family.root, { text })).toMatchObject({ status: 400, code: 40000 })
  },
)

it('community/note refuses a form', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await call(family.root, { text: `target_user_id=${family.child}&note=x`, headers })
  expect(answer).toMatchObject({ status: 415, code: 41500 })
})

it('community/note refuses a token without community.write', async () => {
  const body = { target_user_id: family.child, note: 'x' }
  const scopes = scopesWithout('community.write')
  expect(await call(family.root, { body, scopes })).toMatchObject(scopeRefusal)
})

import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { adjustment, balanceOf } from '../../../support/ledger.ts'
import { newDirectory } from '../../../support/new-directory.ts'
import { newRegistration } from '../../../support/sign-in.ts'
import { ops } from '../run-ops.ts'

const event = (detailType: string, detail: object) => JSON.stringify({ 'detail-type': detailType, detail })

const registration = (userId: number) =>
  event('user.registered', newRegistration({ user_id: userId, registered_at: Date.now() }))
const credit = (userId: number, index: number, amount = '1') =>
  event('wallet.adjusted', adjustment(userId, { adjustment_id: `${userId}-${index}`, amount }))
const file = join(newDirectory(), 'events.ndjson')

it('`event put` lists the rejected lines of its input', async () => {
  const userId = randomInt(1, 2 ** 40)
  const lines = [
    registration(userId),
    credit(userId, 1),
    'no JSON',
    '',
    credit(userId, 2, '-5'),
    credit(userId, 3),
  ]
  writeFileSync(file, lines.join('\n'))
  const { code, out } = await ops(['event', 'put', file, '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toEqual({
    lines: 6,
    sent: 4,
    applied: false,
    refused_count: 2,
    refused: [
      { line: 3, detail_type: null, reason: 'not JSON' },
      {
        line: 5,
        detail_type: 'wallet.adjusted',
        reason: expect.stringContaining('invalid_detail: amount') as string,
      },
    ],
  })
  expect(await balanceOf(userId)).toBe('2')
}, 120_000)

it('`event put` applies each event once, even if the same input is sent twice', async () => {
  const userId = randomInt(1, 2 ** 40)
  const lines = [registration(userId), ...Array.from({ length: 20 }, (_, index) => credit(userId, index))]
  for (let time = 0; time < 2; time += 1) {
    const { code, out } = await ops(['event', 'put', '-', '--json'], `${lines.join('\n')}\n`)
    const result = { code, ...(JSON.parse(out) as object) }
    expect(result).toMatchObject({ code: 0, lines: 21, sent: 21, applied: true })
  }
  expect(await balanceOf(userId)).toBe('20')
}, 120_000)

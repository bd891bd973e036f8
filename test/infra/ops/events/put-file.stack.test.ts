import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomInt, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { newProgress } from '../../../../infra/ops/events/checkpoint.ts'
import { Big } from '../../../../shared/money.ts'
import { readWallet } from '../../../../shared/ledger/wallet.ts'
import { useLocalStack } from '../../../support/local-stack.ts'
import { ops } from '../run-ops.ts'

const event = (detailType: string, detail: object) => JSON.stringify({ 'detail-type': detailType, detail })
const directory = () => mkdtempSync(join(tmpdir(), 'ops-'))

function registration(userId: number) {
  const email = `user-${userId}@example.com`
  return event('user.registered', { user_id: userId, email, nickname: 'N', registered_at: Date.now() })
}
const credit = (userId: number, index: number, amount = '1') =>
  event('wallet.adjusted', {
    adjustment_id: `${userId}-${index}`,
    user_id: userId,
    wallet: 'asset',
    currency: 'USDT',
    amount,
    direction: 1,
    reason: 'test',
    at: Date.now(),
  })
const balanceOf = async (userId: number) => {
  const wallet = await readWallet({ userId, wallet: 'asset' }, { consistent: true })
  return wallet.holdings.get('USDT')?.balance ?? new Big('0')
}

it('event put lists the rejected lines of its input, and deletes its checkpoint at the end', async () => {
  const userId = randomInt(1, 2 ** 40)
  const file = join(directory(), 'events.ndjson')
  const lines = [
    registration(userId),
    credit(userId, 1),
    'no JSON',
    credit(userId, 2, '-5'),
    credit(userId, 3),
  ]
  writeFileSync(file, lines.join('\n'))
  const { code, out } = await ops(['event', 'put', file, '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toEqual({
    lines: 5,
    sent: 4,
    resumed_after: 0,
    applied: true,
    refused_count: 2,
    refused: [
      { line: 3, detail_type: null, reason: 'not JSON' },
      {
        line: 4,
        detail_type: 'wallet.adjusted',
        reason: expect.stringContaining('invalid_detail: amount') as string,
      },
    ],
  })
  expect((await balanceOf(userId)).toFixed()).toBe('2')
  expect(existsSync(`${file}.progress`)).toBe(false)
}, 120_000)

it('a resumed event put sends the remaining lines, and an event that is sent twice takes effect once', async () => {
  const userId = randomInt(1, 2 ** 40)
  const file = join(directory(), 'events.ndjson')
  const first = registration(userId)
  const credits = Array.from({ length: 20 }, (_, index) => credit(userId, index))
  writeFileSync(file, `${[first, ...credits].join('\n')}\n`)
  expect((await ops(['event', 'put', file])).code).toBe(0)
  // The checkpoint of a run that sent all lines, but was killed after saving its progress for the first line
  // only.
  const checkpoint = { ...newProgress(), run: randomUUID(), lines: 1, bytes: first.length + 1, sent: 1 }
  writeFileSync(`${file}.progress`, JSON.stringify(checkpoint))
  const resumed = await ops(['event', 'put', file, '--json'])
  expect(resumed.code).toBe(0)
  expect(JSON.parse(resumed.out)).toMatchObject({ resumed_after: 1, lines: 21, sent: 21, refused_count: 0 })
  expect((await balanceOf(userId)).toFixed()).toBe('20')
}, 120_000)

it('an event put that was killed is resumed without losing an event', async () => {
  // Each event is for another user, because the events of one user are applied one after another.
  const users = Array.from({ length: 20 }, () => randomInt(1, 2 ** 40))
  const credits = Array.from({ length: 8 }, (_, index) => users.map((userId) => credit(userId, index, '0.1')))
  const lines = [...users.map(registration), ...credits.flat()]
  const progress = join(directory(), 'progress')
  const { base_url: url } = await useLocalStack()
  const put = ['event', 'put', '-', '--checkpoint', progress]
  const killed = spawn(process.execPath, ['infra/ops/main.ts', '--url', url, ...put], {
    cwd: join(import.meta.dirname, '../../../..'),
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = once(killed, 'exit')
  // Keeps back the last line of the input, so that the process is still waiting for it when it is killed.
  const [...rest] = lines.slice(0, -1)
  const input = setInterval(() => killed.stdin.write(`${rest.shift() ?? ''}\n`), 40)
  await vi.waitFor(() => expect(existsSync(progress)).toBe(true), { timeout: 20_000, interval: 1 })
  clearInterval(input)
  killed.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
  const { lines: sent } = JSON.parse(readFileSync(progress, 'utf8')) as { lines: number }
  expect(sent).toBeGreaterThan(0)

  const resumed = await ops([...put, '--json'], `${lines.join('\n')}\n`)
  expect(JSON.parse(resumed.out)).toMatchObject({
    resumed_after: sent,
    lines: lines.length,
    refused_count: 0,
  })
  for (const userId of users) expect((await balanceOf(userId)).toFixed()).toBe('0.8')
}, 120_000)

it('event put refuses the checkpoint of another input, and --restart ignores it', async () => {
  const userId = randomInt(1, 2 ** 40)
  const progress = join(directory(), 'progress')
  writeFileSync(progress, JSON.stringify({ ...newProgress(), first_line: 'another', lines: 1, bytes: 10 }))
  const put = ['event', 'put', '-', '--checkpoint', progress]
  expect(await ops(put, registration(userId))).toMatchObject({ code: 2 })
  expect((await ops([...put, '--restart'], registration(userId))).code).toBe(0)
}, 120_000)

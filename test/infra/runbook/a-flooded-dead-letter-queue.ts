import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { adjustment, holdingsOf } from '../../support/ledger.ts'
import { newDirectory } from '../../support/new-directory.ts'
import { putEvents } from '../../support/put-event.ts'
import { createUser } from '../../support/sign-in.ts'
import { follow, pollOptions } from './follow.ts'

const FILE = join(newDirectory(), 'dropped.ndjson')
const debitCount = 60
const invalidCount = 15

/** Tests the procedure with debits that arrived before their credit, and with invalid events. */
export async function aFloodedDeadLetterQueue(url: string): Promise<void> {
  const { ops } = follow('A flooded dead-letter queue', url)
  const NAME = 'wallet.adjusted'
  const { userId } = await createUser()
  const debits = Array.from({ length: debitCount }, () => adjustment(userId, { direction: 2 }))
  await putEvents(NAME, debits)
  await putEvents(
    NAME,
    Array.from({ length: invalidCount }, () => ({ nonsense: true })),
  )
  const waiting = async () => {
    const { result } = await ops('dlq list')
    const { queues } = result as { queues: { name: string; waiting: number; dead_letters: number }[] }
    return queues.find(({ name }) => name === 'wallet-adjusted')
  }
  const settled = (dead: number) => ({ name: 'wallet-adjusted', waiting: 0, dead_letters: dead })
  // A debit that is not covered waits a minute for a credit.
  await expect.poll(waiting, { timeout: 100_000, interval: 250 }).toEqual(settled(debitCount + invalidCount))

  const shown = (await ops('dlq show NAME --limit 20', { NAME })).result as { messages: { reason: string }[] }
  expect(shown.messages).toHaveLength(20)
  for (const { reason } of shown.messages) expect(reason).toMatch(/^(insufficient_balance|invalid_detail): /)

  // Sends the missing credit, so that the refused debits can be applied.
  await putEvents(NAME, [adjustment(userId, { amount: String(debitCount) })])
  const balance = async () => (await holdingsOf(userId))['USDT']
  await expect.poll(balance, pollOptions).toBe(`${debitCount} 0 0 0`)
  const reason = { NAME, REASON: 'insufficient_balance' }
  expect((await ops('dlq redrive NAME --reason REASON', reason)).result).toEqual({ redriven: debitCount })
  await expect.poll(balance, { timeout: 40_000, interval: 250 }).toBe('0 0 0 0')

  const COPY = join(newDirectory(), 'copy.json')
  await ops('dlq show NAME --json > COPY', { NAME, COPY })
  const copy = JSON.parse(readFileSync(COPY, 'utf8')) as { whole: boolean; messages: { body: string }[] }
  expect(copy.whole).toBe(true)

  // Moves the events that can never be applied to a file.
  const dropped = await ops('dlq drop NAME --save FILE --yes', { NAME, FILE })
  expect(dropped.result).toEqual({ dropped: invalidCount, saved_to: FILE })
  await expect.poll(waiting, pollOptions).toEqual(settled(0))
  const saved = readFileSync(FILE, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { body: string })
  const byBody = (one: { body: string }, other: { body: string }) => one.body.localeCompare(other.body)
  expect(saved.toSorted(byBody)).toEqual(copy.messages.toSorted(byBody))
  expect(saved).toHaveLength(invalidCount)
  for (const { body } of saved)
    expect(JSON.parse(body)).toMatchObject({ 'detail-type': NAME, detail: { nonsense: true } })
}

import { KMSClient } from '@aws-sdk/client-kms'
import { performance } from 'node:perf_hooks'
import { beforeEach, expect, it, vi } from 'vitest'
import { type Attempt, emptyKeySet } from '../../../shared/keys/set.ts'
import { type Run, takeStep } from '../../../shared/keys/steps.ts'

const attempt: Attempt = {
  id: 'attempt',
  started_at: 0,
  arn: 'arn',
  trigger: { kind: 'clock', request_id: 'run', requested_by: null },
  replaces: null,
}

/** A run that has been refused the use of a new key this often, and may wait for it so many milliseconds. */
const newRun = (refusals: number, waits: number): Run => ({
  request: { action: 'clock' },
  id: 'run',
  requestedBy: null,
  times: {
    accessTokenTtlSeconds: 60,
    signingKeyRotationDays: 30,
    signingKeyPublishSeconds: 60,
    signingKeyRetireMarginSeconds: 60,
  },
  knowledge: {},
  transitions: [],
  waitUntil: Date.now() + waits,
  refusals,
})

/** Lets a run try to add the new key. Returns how long that took, in milliseconds. */
async function tryToAdd(run: Run): Promise<number> {
  const startedAt = performance.now()
  await takeStep({ kind: 'addKey', attempt, arn: 'arn' }, { ...emptyKeySet, attempt }, run)
  return performance.now() - startedAt
}

const refuse = (name: string) => {
  const error = Object.assign(new Error('refused'), { name })
  vi.spyOn(KMSClient.prototype, 'send').mockImplementation(() => Promise.reject(error) as never)
}

beforeEach(() => refuse('AccessDeniedException'))

it('a run that KMS refuses a new key pauses before it tries again, twice as long each time', async () => {
  const run = newRun(0, 60_000)
  // A timer may fire a millisecond early.
  expect(await tryToAdd(run)).toBeGreaterThanOrEqual(99)
  expect(await tryToAdd(run)).toBeGreaterThanOrEqual(199)
  expect(run).toMatchObject({ refusals: 2, knowledge: {} })
})

it('a run whose time to wait for KMS is over counts the new key as unusable, without a pause', async () => {
  const run = newRun(9, 0)
  expect(await tryToAdd(run)).toBeLessThan(8_000)
  expect(run.knowledge.attempt).toEqual({ id: 'attempt', state: 'unusable' })
})

it('a fault of KMS that says nothing about the key ends the run', async () => {
  refuse('KMSInternalException')
  const run = newRun(0, 60_000)
  await expect(tryToAdd(run)).rejects.toMatchObject({ name: 'KMSInternalException' })
  expect(run.refusals).toBe(0)
})

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import type { StackModel } from '../model.ts'
import { StartupError } from '../startup-error.ts'
import { demoStages } from './demo-events.ts'

interface DemoOptions {
  model: StackModel
  /** URL of the API, which must already be running. */
  baseUrl: string
  appUrl: string
  /** File that records whether all events have been sent. Without a file, every start sends them. */
  file: string | undefined
}

/** Time of the stack's first start with this data (epoch milliseconds), and whether all events were sent. */
const Record = v.object({ first_start: v.number(), sent: v.boolean() })

/**
 * Sends the demo data through the event bus, as an operator would, and resolves when all of it has taken
 * effect. If the stack stops before, its next start sends all of it again. Events that were already applied
 * have no further effect. Throws a `StartupError` if an event is refused.
 */
export async function sendDemo({ model, baseUrl, appUrl, file }: DemoOptions): Promise<void> {
  const { first_start: firstStart, sent } = readRecord(file)
  if (sent) return
  const record = (done: boolean) => {
    if (file !== undefined) writeFileSync(file, JSON.stringify({ first_start: firstStart, sent: done }))
  }
  record(false)
  // The currency settings are the same for all functions, so those of the first function are enough.
  const { QUOTE_CURRENCY: quoteCurrency = 'USDT', REWARD_CURRENCY: rewardCurrency = 'USDT' } =
    model.functions[0]?.environment ?? {}
  // Loaded only now, because a start without demo data needs none of it.
  const [{ captureOps }, { awaitEmptyQueues }, { listQueues, openSqs }] = await Promise.all([
    import('../../ops/command-line.ts'),
    import('../../ops/events/await-empty-queues.ts'),
    import('../../ops/dead-letters/queues.ts'),
  ])
  for (const events of demoStages({ firstStart, quoteCurrency, rewardCurrency, appUrl })) {
    const lines = events.map(({ detailType, detail }) =>
      JSON.stringify({ 'detail-type': detailType, detail }),
    )
    const { code, out, err } = await captureOps(['--url', baseUrl, 'events', 'put', '-'], lines.join('\n'))
    if (code !== 0)
      throw new StartupError(
        `the demo data was not applied, start with --no-demo to go without: ${(err + out).replaceAll(/\s+/g, ' ')}`,
      )
  }
  // Members' totals are added by a worker, after the events themselves.
  if (!(await awaitEmptyQueues(openSqs(), listQueues({ hasAlarms: false, namePrefix: '' }))))
    throw new StartupError(
      'the demo data does not take effect: see the functions’ log, or start with --no-demo',
    )
  record(true)
}

const readRecord = (file: string | undefined): v.InferOutput<typeof Record> =>
  file !== undefined && existsSync(file)
    ? v.parse(Record, JSON.parse(readFileSync(file, 'utf8')))
    : { first_start: Date.now(), sent: false }

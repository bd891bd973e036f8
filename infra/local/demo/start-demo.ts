import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import type { StackModel } from '../model.ts'
import { type DemoEvent, demoStages } from './demo-events.ts'

interface DemoOptions {
  model: StackModel
  /** URL of the API, which must already be running. */
  baseUrl: string
  /** File that records whether all events have been sent. Without a file, every start sends them. */
  file: string | undefined
  showLine: (line: string) => void
}

/** Time of the stack's first start with this data (epoch milliseconds), and whether all events were sent. */
const Record = v.object({ first_start: v.number(), sent: v.boolean() })

/**
 * Sends the demo data through the event bus, as an operator would. As soon as Alice can sign in, resolves
 * with a function that stops the sending. The other events are sent in the background, and their errors are
 * shown, not thrown. If the stack stops before all events are sent, its next start sends all of them again.
 * Events that were already applied have no further effect.
 */
export async function startDemo({ model, baseUrl, file, showLine }: DemoOptions) {
  const { first_start: firstStart, sent } = readRecord(file)
  if (sent) return async () => undefined
  const record = (done: boolean) => {
    if (file !== undefined) writeFileSync(file, JSON.stringify({ first_start: firstStart, sent: done }))
  }
  record(false)
  let isStopped = false
  // The currency settings are the same for all functions, so those of the first function are enough.
  const { QUOTE_CURRENCY: quoteCurrency = 'USDT', REWARD_CURRENCY: rewardCurrency = 'USDT' } =
    model.functions[0]?.environment ?? {}
  const [first = [], ...others] = demoStages({ firstStart, quoteCurrency, rewardCurrency })
  const { captureOps } = await import('../../ops/command-line.ts')
  const sendStage = async (events: DemoEvent[]): Promise<void> => {
    const lines = events.map(({ detailType, detail }) =>
      JSON.stringify({ 'detail-type': detailType, detail }),
    )
    const { code, out, err } = await captureOps(['--url', baseUrl, 'events', 'put', '-'], lines.join('\n'))
    if (code !== 0) throw new Error(out + err)
  }
  const sendRest = async (): Promise<void> => {
    for (const stage of others) if (!isStopped) await sendStage(stage)
    if (!isStopped) record(true)
  }
  await sendStage(first)
  const rest = sendRest().catch((error: unknown) => {
    if (!isStopped) showLine(`demo data: ${String(error)}`)
  })
  return () => {
    isStopped = true
    return rest
  }
}

const readRecord = (file: string | undefined): v.InferOutput<typeof Record> =>
  file !== undefined && existsSync(file)
    ? v.parse(Record, JSON.parse(readFileSync(file, 'utf8')))
    : { first_start: Date.now(), sent: false }

// Loads a local stack with reads, sign-ins and events, and verifies it afterwards: npm run test:load.
import { Command, InvalidArgumentError } from 'commander'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readLogLines } from '../support/read-log-lines.ts'
import { startUnthrottledStack } from '../support/start-unthrottled-stack.ts'
import { compareMinutes, type MemorySample, sampleMemory } from './memory.ts'

const { minutes, clients: clientCount } = new Command('npm run test:load --')
  .description(
    'Loads a local stack with reads, sign-ins and events, and verifies ledger and trees afterwards.',
  )
  .option('--minutes <number>', 'how long', parseCount, 2)
  .option('--clients <number>', 'how many clients ask at a time', parseCount, 8)
  .parse()
  .opts<{ minutes: number; clients: number }>()

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('not a number.')
  return Number(text)
}

/** Messages that may wait in the queues before senders of events pause. */
const maxBacklog = 300
/** Share by which the memory of the last minute may differ from that of the second. */
const memoryTolerance = 0.1

const directory = mkdtempSync(join(tmpdir(), 'load-'))
await using started = new AsyncDisposableStack()
started.defer(() => rmSync(directory, { recursive: true, force: true }))
// The database touches its whole heap at once, which otherwise grows to its limit before it is collected.
// What grows afterwards is a leak.
process.env['JAVA_TOOL_OPTIONS'] = '-Xms512m -XX:+AlwaysPreTouch'
const stack = started.use(await startUnthrottledStack(directory))
process.env['POWERTOOLS_LOG_LEVEL'] ??= 'SILENT'
// Modules of functions/ and shared/ are imported only now: they read their environment when they load.
const { compareWithModel, createPeople, sendEvents } = await import('./world.ts')
const { Clients } = await import('./requests.ts')
const { findWallets, formatReport, verifyLedger } = await import('../../infra/ops/verify-ledger.ts')

interface Queues {
  queues: { isDeadLetterQueue: boolean; visible: number; inFlight: number; delayed: number }[]
  dead_letters: { queue: string; reason: string | null }[]
}

async function readQueues() {
  const answer = await fetch(`${stack.baseUrl}/_local/queues`)
  const { queues, dead_letters: deadLetters } = (await answer.json()) as Queues
  const waiting = queues.filter((queue) => !queue.isDeadLetterQueue)
  const backlog = waiting.reduce(
    (sum, { visible, inFlight, delayed }) => sum + visible + inFlight + delayed,
    0,
  )
  return { backlog, deadLetters }
}

async function waitForQueues(maxMessages: number): Promise<void> {
  while ((await readQueues()).backlog > maxMessages) await wait(200)
}

/** What functions logged of requests that failed: their causes, each with how often it was. */
function countLoggedCauses(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of readLogLines(stack.logFile)) {
    if (!line.includes('request failed')) continue
    const logged = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, unknown>
    const { service, route, passing_cause, cause } = logged
    const text = JSON.stringify({ service, route, passing_cause, cause })
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return counts
}

const people = await createPeople(48)
await waitForQueues(0)
const clients = new Clients(stack.baseUrl, people)
await clients.warmUp()
const startedAt = Date.now()
const end = startedAt + minutes * 60_000
const minuteNow = () => Math.floor((Date.now() - startedAt) / 60_000) + 1
const samples: MemorySample[] = []
let events = 0

const whileTime = async (act: () => Promise<void>) => {
  while (Date.now() < end) await act()
}
await Promise.all([
  ...Array.from({ length: clientCount }, () => whileTime(() => clients.act())),
  whileTime(async () => {
    events += await sendEvents()
    await waitForQueues(maxBacklog)
  }),
  whileTime(async () => {
    samples.push(...sampleMemory(stack.pid, minuteNow()))
    await wait(Math.min(2_000, Math.max(1, end - Date.now())))
  }),
])
await waitForQueues(0)

const percentile = (values: readonly number[], share: number) =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN)
for (const [kind, values] of Object.entries(clients.milliseconds)) {
  const perSecond = (values.length / minutes / 60).toFixed(1)
  console.log(
    `${kind}: ${values.length}, ${perSecond} a second, median ${percentile(values, 0.5)} ms, 99 % ${percentile(values, 0.99)} ms`,
  )
}
console.log(`events: ${events}, ${(events / minutes / 60).toFixed(1)} a second`)

const problems = [...clients.errors].map(([error, count]) => `${error} (${count} times)`)
const ledger = await verifyLedger(await findWallets(undefined), () => undefined)
console.log(`ledger: ${formatReport(ledger)}`)
if (ledger.differences.length > 0) problems.push('the ledger has differences')
const differences = await compareWithModel()
console.log(`wallets and trees: ${differences.length} differences from the model`)
problems.push(...differences.slice(0, 10))
const { deadLetters } = await readQueues()
problems.push(...deadLetters.map(({ queue, reason }) => `a dead letter in ${queue}: ${reason ?? ''}`))
for (const { process: name, second, last } of compareMinutes(samples)) {
  const change = last / second - 1
  console.log(
    `memory of ${name}: ${Math.round(second)} MB in the second minute, ${Math.round(last)} MB in the last`,
  )
  if (minutes > 2 && change > memoryTolerance)
    problems.push(`the memory of ${name} grew by ${Math.round(change * 100)} %`)
}
console.log(`${minutes} minutes: ${problems.length} problems`)
for (const problem of problems) console.log(problem)
if (clients.errors.size > 0)
  for (const [cause, count] of countLoggedCauses()) console.log(`logged ${count} times: ${cause}`)
process.exitCode = problems.length === 0 ? 0 : 1

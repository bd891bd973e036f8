// Sends hostile requests to a local stack, and checks every answer and log line: npm run test:fuzz.
import { Command, InvalidArgumentError } from 'commander'
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { ApiReference } from '../support/described-answer.ts'
import { startUnthrottledStack } from '../support/start-unthrottled-stack.ts'
import type { FuzzedRequest } from './draft.ts'
import { LogScan } from './log-scan.ts'
import { markerShape } from './texts.ts'

const { requests, seed, only } = new Command('npm run test:fuzz --')
  .description(
    'Sends hostile requests to every route of the API reference, and checks the answers and the log.',
  )
  .option('--requests <number>', 'how many requests', parseCount, 4_000)
  .option('--seed <number>', 'what the requests follow from (default: another one each time)', parseCount)
  .option(
    '--only <number>',
    'send only the request with this number, and show it with its answer',
    parseCount,
  )
  .parse()
  .opts<{ requests: number; seed?: number; only?: number }>()

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('not a number.')
  return Number(text)
}

/** Requests after which the log is read. */
const batchSize = 2_000
/** Requests at a time. */
const maxLanes = 4
/** Different problems after which a run ends. */
const maxProblems = 20

const chosenSeed = String(seed ?? randomInt(1_000_000))
await using stack = await startUnthrottledStack()
process.env['POWERTOOLS_LOG_LEVEL'] ??= 'SILENT'
// Modules of functions/ and shared/ are imported only now: they read their environment when they load.
const { openApiDocument } = await import('../../infra/openapi/document.ts')
const { createActors, register, registerUsers } = await import('./actors.ts')
const { listOperations } = await import('./draft.ts')
const { RequestSource } = await import('./draw-request.ts')
const { FuzzCheck, isSuccess } = await import('./check-answer.ts')
const { namesIn, SentNames } = await import('./sent-names.ts')
const { fillIn, send } = await import('./send-request.ts')

const reference = (await openApiDocument()) as unknown as ApiReference
await registerUsers()
let source = new RequestSource(reference, await createActors())
const check = new FuzzCheck(reference, register)
const scan = new LogScan(stack.logFile)
const problems = new Map<string, string>()
const statuses = new Map<number, number>()
/** How many requests to each operation succeeded. */
const successes = new Map(
  listOperations(reference).map(({ method, template }) => [`${method} ${template}`, 0]),
)
const sentNames = new SentNames(reference)
/** Which request sent a marker: those of the last batches. */
let markers = new Map<string, number>()

const repeat = (number: number) => `npm run test:fuzz -- --seed ${chosenSeed} --only ${number}`

/** Keeps one problem of each kind, with the line that sends its request again. */
function note(problem: string, number: number | undefined, request = '', of = problem): void {
  const kind = `${request} ${of}`.replaceAll(markerShape, '…').replaceAll(/\d{3,}/g, '#')
  if (!problems.has(kind))
    problems.set(kind, `${request} ${problem}\n  ${number === undefined ? '' : repeat(number)}`)
}

/** How often a request is sent again that a busy machine cannot answer in time. */
const maxRetries = 5
let retries = 0

/** Sends a request with new one-time values, and again as long as the answer is to come back later. */
async function sendUntilAnswered(drawn: FuzzedRequest, number: number) {
  for (let attempt = 0; ; attempt += 1) {
    const request = await fillIn(drawn)
    const answer = await send(stack.baseUrl, request, number)
    if (answer.status !== 503 || attempt === maxRetries) return { request, answer }
    retries += 1
    await wait(Number(answer.headers['retry-after'] ?? 1) * 1000)
  }
}

async function sendOne(number: number): Promise<void> {
  const drawn = source.draw(chosenSeed, number)
  const sent = [drawn.target, ...drawn.headers.flat(), drawn.body?.toString() ?? ''].join('\n')
  for (const marker of sent.match(markerShape) ?? []) markers.set(marker, number)
  const where = `${drawn.method} ${(drawn.target.split('?')[0] ?? '').slice(0, 80)}`
  try {
    const { request, answer } = await sendUntilAnswered(drawn, number)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const operation = check.operationOf(request)
    if (operation !== undefined && isSuccess(answer)) {
      successes.set(operation, (successes.get(operation) ?? 0) + 1)
      sentNames.add(operation, namesIn(request))
    } else if (source.isGood(number)) note(`a good request was answered ${answer.status}`, number, where)
    for (const problem of check.problemsOf(request, answer)) note(problem, number, where)
    if (only !== undefined) console.log({ ...request, body: request.body?.toString() }, answer)
  } catch (error) {
    note(`was not answered: ${String(error)}`, number, where)
  }
}

/**
 * The lane of a request: those of one lane are sent one after the other, and no function is in two of them.
 * Two calls at a time would need a second worker, and the functions have forty together.
 */
function laneOf(number: number): number {
  const operation = check.operationOf(source.draw(chosenSeed, number))
  return [...successes.keys()].indexOf(operation ?? '') % maxLanes
}

/** Looks for what was sent in the log, which may be written an instant after the answer. */
async function readLog(): Promise<void> {
  await wait(100)
  for (const line of scan.next()) {
    const [marker = ''] = line.match(markerShape) ?? []
    // A line begins with its instant and the name of the function.
    const name = line.split(' ')[1] ?? ''
    note(`logged what was sent: ${line.slice(0, 500)}`, markers.get(marker), name, 'logged')
  }
}

// Starts every function once, one at a time.
for (const { method, template } of listOperations(reference))
  await sendUntilAnswered({ method, target: template, headers: [], body: undefined }, 0)

const started = performance.now()
let done = 0
for (let first = only ?? 0; first < (only ?? requests - 1) + 1; first += batchSize) {
  const count = only === undefined ? Math.min(batchSize, requests - first) : 1
  const lanes = Map.groupBy(
    Array.from({ length: count }, (_, i) => first + i),
    laneOf,
  )
  await Promise.all(
    [...lanes.values()].map(async (numbers) => {
      for (const number of numbers) await sendOne(number)
    }),
  )
  await readLog()
  markers = new Map()
  source = new RequestSource(reference, await createActors())
  done += count
  if (done % (batchSize * 5) === 0) console.log(`${done} requests, ${problems.size} problems`)
  if (problems.size >= maxProblems) break
}

// By now some requests to each operation succeed, with each of its parameters, unless they are worthless.
if (done > source.sweepSize) {
  for (const [operation, count] of successes) if (count === 0) note('never succeeded', undefined, operation)
  for (const [operation, names] of sentNames.missing)
    note(`never succeeded with ${names.join(', ')}`, undefined, operation)
}

const seconds = (performance.now() - started) / 1000
const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status} × ${count}`)
const least = Math.min(...successes.values())
console.log(
  `seed ${chosenSeed}: ${done} requests in ${Math.round(seconds)} s, ${Math.round(done / seconds)} a second; ` +
    `answers: ${counts.join(', ')}; sent again after a 503: ${retries}; each operation succeeded ${least} times or more; ${scan.lines} log lines; ${problems.size} problems`,
)
for (const problem of problems.values()) console.log(problem)
process.exitCode = problems.size === 0 ? 0 : 1

import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { AsyncLocalStorage } from 'node:async_hooks'
import { refuseForConflict } from '../../../infra/local/aws/dynamodb/conflicts.ts'
import { type openReplica, replicaOf } from '../../../infra/local/aws/dynamodb/replica.ts'
import { listWrittenItems } from '../../../infra/local/aws/dynamodb/requests.ts'
import { AwsError } from '../../../infra/local/aws/wire/http-messages.ts'
import type { Manner, Manners } from '../../../infra/local/manners.ts'
import { tableName } from '../../../shared/db/table.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'
import type { Draws } from './draws.ts'
import { currentTask, type Task } from './virtual-time.ts'

/** The probability of each fault of an AWS call. */
export interface Weather {
  /** The service refuses the call by its throttling error. */
  throttles: number
  /** Another transaction is at work on the item. */
  conflicts: number
  /** The call takes effect, but its answer is lost: the caller learns that after two seconds. */
  lostAnswers: number
  /** The process is killed before the call, or after it took effect. */
  kills: number
  /** A read that is not strongly consistent shows the table as it was up to a second ago. */
  staleReads: number
}

/** Thrown in a process that was killed, so that its work ends without any further effect. */
export class Killed extends Error {
  override readonly name = 'Killed'
}

const lostAfterMilliseconds = 2_000
const maxLatencyMilliseconds = 20

/** What the SDK sends: the input of the operation, and the request that it has made of it. */
interface Attempt {
  input: object
  request: { body: Uint8Array; headers: Record<string, string> }
}
interface Response {
  headers?: Record<string, string>
}
type Next = (attempt: Attempt) => Promise<{ output: { Responses?: object }; response: Response }>
interface Client {
  middlewareStack: { add: (middleware: object, options: object) => void }
}

/** What the calls meet in the simulation. */
export interface Stage {
  /** Answers a command of the services that the simulation plays itself: queues, bus and mail. */
  play: (command: object) => unknown
  /** Takes note of a call whose turn has come. */
  note: (call: string) => void
  /** The table that lags behind; undefined if no read is stale. */
  replica: Replica | undefined
}
type Replica = Awaited<ReturnType<typeof openReplica>>

/**
 * Lets every AWS call of a task wait for its turn in virtual time, and meet the faults of the weather there.
 * Calls of DynamoDB and KMS meet them below the SDK's retries. Returns the end of it.
 */
export function simulateCalls(
  draws: Draws,
  weather: Weather,
  { play, note, replica }: Stage,
): { restore: () => void } {
  const prepared = new WeakSet<object>()
  const { restore } = tamperCalls(({ client, command, perform }) => {
    const task = currentTask.getStore()
    if (task === undefined) return perform()
    const name = client.constructor.name
    if (/^(SQS|SESv2|EventBridge)Client$/.test(name))
      return takeTurn(task, command.constructor.name, async () => play(command))
    const { middlewareStack } = client as Client
    if (!prepared.has(middlewareStack)) {
      prepared.add(middlewareStack)
      // At low priority it is below the SDK's retries, so that each of its attempts passes here.
      middlewareStack.add(
        (next: Next, { commandName = '' }: { commandName?: string }) =>
          (attempt: Attempt) =>
            simulateAttempt(commandName.replace(/Command$/, ''), attempt, dateless(next)),
        { step: 'finalizeRequest', priority: 'low', name: 'simulation', override: true },
      )
    }
    return perform()
  })
  return { restore }

  function simulateAttempt(operation: string, attempt: Attempt, next: Next): Promise<unknown> {
    const task = currentTask.getStore()
    if (task === undefined) return next(attempt)
    // How many keys are looked through depends on earlier histories, so this takes no time and has no fault.
    if (operation === 'ListResourceTags')
      return task.time.perform(AsyncLocalStorage.bind(() => next(attempt)))
    return takeTurn(task, operation, async () => {
      const stream = `${task.name} ${operation}`
      const manners = mannersOf(stream)
      refuse(manners, stream, operation, attempt.input)
      if (replica === undefined) return next(attempt)
      if (manners.happens('stale-reads', stream, 1) && isRead(operation)) {
        const stale = replica.redirect(
          stream,
          operation,
          JSON.parse(new TextDecoder().decode(attempt.request.body)),
        )
        if (stale !== undefined) return readStale(replica, stale.input, attempt, next)
      }
      const answer = await next(attempt)
      replica.copyLater(stream, listWrittenItems(operation, attempt.input))
      return answer
    })
  }

  /** Runs a call when its turn comes. */
  function takeTurn(task: Task, operation: string, perform: () => Promise<unknown>): Promise<unknown> {
    const stream = `${task.name} ${operation}`
    const inContext = AsyncLocalStorage.snapshot()
    task.calls += 1
    const isNow = task.dies?.call === task.calls
    const isDrawn = draws.happens(`${stream} kill`, weather.kills)
    const dies = isNow ? task.dies?.when : isDrawn ? draws.pick(stream, ['before', 'after']) : undefined
    const isLost = draws.happens(`${stream} lost`, weather.lostAnswers)
    const kill = () => {
      task.killed = true
      return new Killed()
    }
    const { promise, resolve, reject } = Promise.withResolvers()
    const run = async () => {
      note(stream)
      if (task.killed || dies === 'before') return reject(kill())
      try {
        const answer: unknown = await inContext(perform)
        if (dies === 'after') reject(kill())
        else if (!isLost) resolve(answer)
        else task.time.after(lostAfterMilliseconds, () => reject(task.killed ? kill() : lost()))
      } catch (error) {
        reject(error)
      }
    }
    // Parts of milliseconds order calls that are made at once, whichever the SDK has ready first.
    task.time.after(1 + draws.number(`${stream} latency`) * maxLatencyMilliseconds, run)
    return promise
  }

  /** The manners of the local stack, with the probabilities of the weather. */
  function mannersOf(stream: string): Manners {
    const probabilities: Partial<Record<Manner, number>> = {
      conflicts: weather.conflicts,
      throttles: weather.throttles,
      'stale-reads': weather.staleReads,
    }
    return {
      speed: 1,
      has: (manner) => manner in probabilities,
      draw: (manner) => draws.number(`${stream} ${manner}`),
      happens: (manner) => draws.happens(`${stream} ${manner}`, probabilities[manner] ?? 0),
    }
  }
}

/** Takes the machine's date out of answers, from which the SDK would see that the virtual clock is off. */
const dateless =
  (next: Next): Next =>
  async (attempt) => {
    const forget = ({ headers }: Response = {}) => delete headers?.['date']
    try {
      const answer = await next(attempt)
      forget(answer.response)
      return answer
    } catch (error) {
      forget((error as { $response?: Response }).$response)
      throw error
    }
  }

const isRead = (operation: string) => /^(GetItem|BatchGetItem|Query)$/.test(operation)

/** Reads the replica, as it is at this instant of the virtual time. */
async function readStale(replica: Replica, input: object, attempt: Attempt, next: Next) {
  await currentTask.exit(replica.flush)
  const body = Buffer.from(JSON.stringify(input))
  const headers = { ...attempt.request.headers, 'content-length': String(body.length) }
  const request = Object.assign(Object.create(Object.getPrototypeOf(attempt.request) as object) as object, {
    ...attempt.request,
    body,
    headers,
  })
  const answer = await next({ ...attempt, input, request })
  const { Responses = {} } = answer.output
  for (const [table, items] of Object.entries(Responses))
    if (table === replicaOf(tableName())) Object.assign(Responses, { [tableName()]: items as unknown })
  return answer
}

/** Throws the error by which AWS refuses a call, if the manners want it. */
function refuse(manners: Manners, stream: string, operation: string, input: object): void {
  try {
    refuseForConflict(manners, stream, operation, () => listWrittenItems(operation, input).length)
  } catch (error) {
    throw error instanceof AwsError ? toException(error) : error
  }
  if (operation !== 'TransactWriteItems' && manners.happens('throttles', stream, 1))
    throw exception('ThrottlingException', 400)
}

const exception = (name: string, httpStatusCode: number) =>
  Object.assign(new Error(name), { name, $fault: 'client', $metadata: { httpStatusCode } })

const lost = () => exception('TimeoutError', 0)

/** The exception of the SDK for an error that the local AWS endpoint would answer. */
function toException({ name, message, members }: AwsError): Error {
  if (name !== 'TransactionCanceledException') return exception(name, 400)
  return new TransactionCanceledException({ message, $metadata: { httpStatusCode: 400 }, ...members })
}

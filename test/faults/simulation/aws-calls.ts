import { AsyncLocalStorage } from 'node:async_hooks'
import { awsError, isWrite, tamperAttempts, tamperCalls, writeError } from '../../support/tamper-calls.ts'
import type { Draws } from './draws.ts'
import { currentTask, type Task } from './virtual-time.ts'

/** The probability of each fault of an AWS call. */
export interface Weather {
  /** AWS refuses the call with a throttling error. */
  throttles: number
  /** AWS refuses a write, because another transaction is changing the item. */
  conflicts: number
  /** The call takes effect, but its answer is lost: the caller gets a timeout after two seconds. */
  lostAnswers: number
  /** The process is killed, either before the call or after the call took effect. */
  kills: number
  /** A read that is not strongly consistent returns items in a state that is up to a second old. */
  staleReads: number
}

/** Ends the work of a process that was killed in the simulation, so that it has no further effect. */
export class Killed extends Error {
  override readonly name = 'Killed'
}

const lostAfterMilliseconds = 2_000
const maxLatencyMilliseconds = 20

/** How the simulation answers and records AWS calls. */
export interface Stage {
  /** Answers a call to SQS, EventBridge or SES, which the simulation imitates. */
  play: (command: object) => unknown
  note: (call: string) => void
}

/**
 * In virtual time, delays the AWS calls of tasks, and makes some fail, with the probabilities in `weather`.
 * For DynamoDB and KMS, each attempt of the SDK counts as a call. Returns a function that ends this.
 */
export function simulateCalls(draws: Draws, weather: Weather, { play, note }: Stage): () => void {
  const attempts = tamperAttempts(({ operation, input, perform }) => {
    const task = currentTask.getStore()
    if (task === undefined) return perform()
    return takeTurn(task, operation, () => {
      refuse(`${task.name} ${operation}`, operation, input)
      return dateless(perform)
    })
  })
  const calls = tamperCalls(({ client, command, name, perform }) => {
    const task = currentTask.getStore()
    const isPlayed = /^(SQS|SESv2|EventBridge)Client$/.test(client.constructor.name)
    if (task === undefined || !isPlayed) return perform()
    return takeTurn(task, name, async () => play(command))
  })
  return () => {
    calls.restore()
    attempts.restore()
  }

  /** Performs a call after a random latency in virtual time. May kill the process, or lose the answer. */
  function takeTurn(task: Task, operation: string, perform: () => Promise<unknown>): Promise<unknown> {
    const stream = `${task.name} ${operation}`
    const inContext = AsyncLocalStorage.snapshot()
    const isKilled = draws.happens(`${stream} kill`, weather.kills)
    const dies = isKilled ? draws.pick(stream, ['before', 'after']) : undefined
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
        else
          task.time.after(lostAfterMilliseconds, () =>
            reject(task.killed ? kill() : awsError('TimeoutError', 0)),
          )
      } catch (error) {
        reject(error)
      }
    }
    // Latencies have fractions, so that no two calls end at once. Otherwise, their order would not be fixed.
    task.time.after(1 + draws.number(`${stream} latency`) * maxLatencyMilliseconds, run)
    return promise
  }

  function refuse(stream: string, operation: string, input: object): void {
    const items = (input as { TransactItems?: object[] }).TransactItems?.length ?? 1
    const item = () => draws.below(`${stream} item`, items)
    if (isWrite(operation) && draws.happens(`${stream} conflicts`, weather.conflicts))
      throw writeError(operation, input, 'TransactionConflict', item())
    if (draws.happens(`${stream} throttles`, weather.throttles))
      throw writeError(operation, input, 'ThrottlingError', item())
  }
}

interface Response {
  headers?: Record<string, string>
}

/** Removes the real date from answers. Otherwise, the SDK would conclude that the virtual clock is wrong. */
async function dateless(perform: () => Promise<unknown>): Promise<unknown> {
  const forget = ({ headers }: Response = {}) => delete headers?.['date']
  try {
    const answer = await perform()
    forget((answer as { response?: Response }).response)
    return answer
  } catch (error) {
    forget((error as { $response?: Response }).$response)
    throw error
  }
}

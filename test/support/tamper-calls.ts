import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { kms } from '../../shared/aws/kms.ts'

interface Client {
  middlewareStack: { add: (middleware: object, options: object) => void }
}
interface Sender {
  send: (this: Client, command: object, ...rest: unknown[]) => Promise<unknown>
}

/** The prototype from which every AWS client inherits `send`. */
const base = Object.getPrototypeOf(Object.getPrototypeOf(kms)) as Sender

/** A call of an AWS client: the client, what it sends, and the function that performs the call. */
export interface TamperedCall {
  client: object
  command: object
  /** Name of the command's class, for example `CreateKeyCommand`. */
  name: string
  perform: () => Promise<unknown>
}

/** Until `restore` is called, `decide` performs or refuses each AWS call of this process. */
export function tamperCalls(decide: (call: TamperedCall) => Promise<unknown>): { restore: () => void } {
  const original = base.send
  base.send = function (command, ...rest) {
    return decide({
      client: this,
      command,
      name: command.constructor.name,
      perform: () => original.call(this, command, ...rest),
    })
  }
  return {
    restore: () => {
      base.send = original
    },
  }
}

/** Runs `work`. Calls `act` when the first command of class `name` is sent or answered (see `moment`). */
export async function actWhile<T>(
  moment: 'is sent' | 'is answered',
  name: string,
  act: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  let hasActed = false
  const { restore } = tamperCalls(async (call) => {
    if (call.name !== name || hasActed) return call.perform()
    hasActed = true
    if (moment === 'is sent') await act()
    const answer = await call.perform()
    if (moment === 'is answered') await act()
    return answer
  })
  return work().finally(restore)
}

/** One attempt at an AWS call. The SDK makes further attempts after a temporary error. */
export interface TamperedAttempt {
  /** Name of the operation, for example `CreateKey`. */
  operation: string
  input: object
  /** Identifies the call to which the attempt belongs: an object that all attempts of one call share. */
  call: object
  perform: () => Promise<unknown>
}

type Decide = (attempt: TamperedAttempt) => Promise<unknown>
type Next = (args: { input: object }) => Promise<unknown>

const deciders: Decide[] = []
const prepared = new WeakSet<object>()

/** Lets `decide` perform or refuse each attempt at an AWS call, until `restore` is called. */
export function tamperAttempts(decide: Decide): { restore: () => void } {
  const calls = tamperCalls(({ client, perform }) => {
    const { middlewareStack } = client as Client
    if (!prepared.has(middlewareStack)) {
      prepared.add(middlewareStack)
      // Low priority places the middleware below the SDK's retries, so that it sees each attempt.
      middlewareStack.add(passAttempts, { step: 'finalizeRequest', priority: 'low', name: 'tamperAttempts' })
    }
    return perform()
  })
  deciders.push(decide)
  return {
    restore: () => {
      deciders.splice(deciders.indexOf(decide), 1)
      calls.restore()
    },
  }
}

const passAttempts =
  (next: Next, call: { commandName?: string }) =>
  (args: { input: object }): Promise<unknown> => {
    const decide = deciders.at(-1)
    if (decide === undefined) return next(args)
    const operation = (call.commandName ?? '').replace(/Command$/, '')
    return decide({ operation, input: args.input, call, perform: () => next(args) })
  }

/** An error like the one that the SDK throws for an AWS error response. */
export const awsError = (name: string, httpStatusCode = 400): Error =>
  Object.assign(new Error(name), { name, $fault: 'client', $metadata: { httpStatusCode } })

/** DynamoDB's error for a refused write. In a transaction, the write at index `item` has caused the error. */
export function writeError(
  operation: string,
  input: object,
  code: 'TransactionConflict' | 'ThrottlingError',
  item = 0,
): Error {
  if (operation !== 'TransactWriteItems')
    return awsError(code === 'TransactionConflict' ? 'TransactionConflictException' : 'ThrottlingException')
  const { TransactItems } = input as { TransactItems: object[] }
  const CancellationReasons = TransactItems.map((_item, i) => ({ Code: i === item ? code : 'None' }))
  const $metadata = { httpStatusCode: 400 }
  return new TransactionCanceledException({ message: code, $metadata, CancellationReasons })
}

/** Whether a DynamoDB operation writes items. A write can conflict with a transaction. */
export const isWrite = (operation: string): boolean =>
  /^(TransactWriteItems|(Put|Update|Delete)Item)$/.test(operation)

/** Simulates that AWS throttles an operation. `restore` ends this, and returns how many attempts failed. */
export function throttle(operation: string): { restore: () => number } {
  let refused = 0
  const { restore } = tamperAttempts((attempt) => {
    if (attempt.operation !== operation) return attempt.perform()
    refused += 1
    throw awsError('ThrottlingException')
  })
  return {
    restore: () => {
      restore()
      return refused
    },
  }
}

/**
 * Runs `work`. The first `skip` calls of an operation pass. In each of the next `count` calls, the first
 * attempt takes effect, but the SDK gets a timeout. The attempts fail together, after all have taken effect.
 */
export async function withLostFirstAnswers<T>(
  operation: string,
  count: number,
  work: () => Promise<T>,
  { skip = 0 }: { skip?: number } = {},
): Promise<T> {
  const seen = new Set()
  let performed = 0
  const { promise: all, resolve: lose } = Promise.withResolvers<undefined>()
  const { restore } = tamperAttempts(async (attempt) => {
    const isFirst = attempt.operation === operation && !seen.has(attempt.call)
    if (isFirst) seen.add(attempt.call)
    const isLost = isFirst && seen.size > skip && seen.size <= skip + count
    if (!isLost) return attempt.perform()
    try {
      await attempt.perform()
    } finally {
      performed += 1
      if (performed === count) lose(undefined)
    }
    await all
    throw awsError('TimeoutError', 0)
  })
  const result = await work().finally(restore)
  if (performed < count) throw new Error('fewer calls were made than answers were to be lost')
  return result
}

const never = (): Promise<never> => new Promise(() => undefined)

/**
 * Runs `work`, and simulates a crash at AWS call number `at`: later calls have no effect. With `carriedOut`,
 * the crash comes after this call has taken effect, else before. Resolves with false if `work` ended before
 * the crash.
 */
export async function runAndDieAt(
  work: () => Promise<unknown>,
  at: number,
  carriedOut: boolean,
): Promise<boolean> {
  let calls = 0
  let isDead = false
  const death = Promise.withResolvers<true>()
  const die = () => {
    isDead = true
    death.resolve(true)
  }
  const underWay: Promise<unknown>[] = []
  const { restore } = tamperCalls(async ({ perform }) => {
    calls += 1
    const isLast = calls === at
    if (calls > at || (isLast && !carriedOut)) {
      die()
      return never()
    }
    const call = perform()
    underWay.push(call)
    await Promise.allSettled([call])
    if (isLast) die()
    return isDead ? never() : call
  })
  try {
    const hasDied = await Promise.race([death.promise, work().then(() => false)])
    await Promise.allSettled(underWay)
    return hasDied
  } finally {
    restore()
  }
}

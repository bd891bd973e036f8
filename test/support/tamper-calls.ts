import { kms } from '../../shared/aws/kms.ts'

interface Sender {
  send: (this: object, command: object, ...rest: unknown[]) => Promise<unknown>
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

/** Passes every call of every AWS client of this process to `decide`, until `restore`. */
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

const never = (): Promise<never> => new Promise(() => undefined)

/**
 * Runs `work` and simulates a crash at its AWS call number `at`: neither that call nor any later one is
 * answered, nor is any that is under way then, but these take effect before this ends. `carriedOut` says
 * whether call `at` still takes effect. Resolves with whether there were that many calls.
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

import { kms } from '../../shared/aws/kms.ts'

interface Sender {
  send: (this: unknown, command: object, ...rest: unknown[]) => Promise<unknown>
}

/** What every AWS client inherits its `send` from. */
const base = Object.getPrototypeOf(Object.getPrototypeOf(kms)) as Sender

/** A call of an AWS client: what it is called, and what carries it out. */
export interface TamperedCall {
  /** Name of the command's class, for example `CreateKeyCommand`. */
  name: string
  perform: () => Promise<unknown>
}

/** Lets `decide` carry out every call of every AWS client of this process, until `restore`. */
export function tamperCalls(decide: (call: TamperedCall) => Promise<unknown>): { restore: () => void } {
  const original = base.send
  base.send = function (command, ...rest) {
    return decide({
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
 * Runs `work` and lets it die at its AWS call number `at`: that call, and every later one, is never answered;
 * the call itself is carried out or not. Resolves with whether there were so many calls.
 */
export async function runAndDieAt(
  work: () => Promise<unknown>,
  at: number,
  carriedOut: boolean,
): Promise<boolean> {
  let calls = 0
  let die: () => void = () => undefined
  const died = new Promise<true>((resolve) => {
    die = () => resolve(true)
  })
  const { restore } = tamperCalls(async ({ perform }) => {
    calls += 1
    if (calls < at) return perform()
    if (calls === at && carriedOut) await perform()
    die()
    return never()
  })
  try {
    return await Promise.race([died, work().then(() => false)])
  } finally {
    restore()
  }
}

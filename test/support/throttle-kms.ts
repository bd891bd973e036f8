import { kms } from '../../shared/aws/kms.ts'

const name = 'throttleKms'

/** The part of the AWS SDK's middleware stack that throttling uses. */
interface Stack {
  add: (middleware: Middleware, options: object) => void
  remove: (name: string) => boolean
}
type Next = (args: unknown) => Promise<unknown>
type Middleware = (next: Next, context: { commandName?: string }) => Next

/**
 * Makes KMS answer an operation of this process with ThrottlingException until `restore`, as if its quota
 * were exceeded. It acts below the SDK's retries, so that these are used up as well.
 */
export function throttleKms(operation: string): { restore: () => number } {
  const stack = kms.middlewareStack as unknown as Stack
  let refused = 0
  stack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== `${operation}Command`) return next(args)
        refused += 1
        const words =
          'You have exceeded the rate at which you may call KMS. Reduce the frequency of your calls.'
        throw Object.assign(new Error(words), {
          name: 'ThrottlingException',
          $fault: 'client',
          $metadata: { httpStatusCode: 400 },
        })
      },
    { step: 'finalizeRequest', priority: 'low', name, override: true },
  )
  return {
    /** Ends the throttling, and returns the number of throttled requests. */
    restore: () => {
      stack.remove(name)
      return refused
    },
  }
}

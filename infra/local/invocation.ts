/** What came of running a function once, as Lambda's Invoke reports it. */
export interface InvocationResult {
  /** JSON text: what the handler returned (`null` for nothing), or Lambda's error object. */
  payload: string
  /** Set when the function threw, timed out, exited or could not be loaded; the payload then holds `errorType` and `errorMessage`. */
  functionError: 'Unhandled' | undefined
  requestId: string
  /** The last lines that the function logged during this run, at most 4 KB, as Invoke's `LogType: Tail` gives them. */
  logTail: string
}

/**
 * Runs a function with a JSON text and resolves when it has answered; never rejects for what a function does.
 * Rejects with `TooManyRequestsError` when the function's reserved concurrency (zero included) or its queue is exhausted.
 */
export type InvokeFunction = (functionLogicalId: string, payload: string) => Promise<InvocationResult>

/** Lambda's own refusal to run a function now (`TooManyRequestsException`): the caller may try again. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsError'
}

/** How the functions are run: the runtime of the local stack, or a stand-in. */
export type Invoke = (
  functionName: string,
  payload: Uint8Array,
  type: 'RequestResponse' | 'Event',
) => Promise<InvokeResult>

/** What came of an invocation. */
export interface InvokeResult {
  payload: Uint8Array
  /** Set when the function threw, timed out or died; the payload then describes the error. */
  functionError?: 'Unhandled'
  executedVersion: string
  /** The end of the log, as text. */
  logTail?: string
}

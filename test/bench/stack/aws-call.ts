import type { Bill } from '../../support/bill-call.ts'

/** A call of a function to an AWS service, as AWS would bill it. */
export interface AwsCall extends Bill {
  service: 'dynamodb' | 'kms' | 'sqs' | 'events' | 'ses' | 'other'
  operation: string
  /** When the call came and when it was answered, in milliseconds of `performance.now()`. */
  startedAt: number
  endedAt: number
}

/** The number of calls in the longest chain of which each began after the one before had been answered. */
export function longestChain(calls: readonly Pick<AwsCall, 'startedAt' | 'endedAt'>[]): number {
  const chains: { endedAt: number; length: number }[] = []
  for (const { startedAt, endedAt } of calls.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const before = chains.filter((chain) => chain.endedAt <= startedAt).map(({ length }) => length)
    chains.push({ endedAt, length: 1 + Math.max(0, ...before) })
  }
  return Math.max(0, ...chains.map(({ length }) => length))
}

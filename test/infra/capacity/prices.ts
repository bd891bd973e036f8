import type { Operation } from './operations.ts'

/** A price in dollars for a million of something, and the page that names it. */
export interface Price {
  what: string
  perMillion: number
  page: string
}

/** On-demand prices of us-east-1, first tier, without free tiers, as the pages named them in the first half of 2026. */
export const prices = {
  gateway: { what: 'HTTP API requests', perMillion: 1, page: 'Amazon API Gateway pricing' },
  invocation: { what: 'Lambda requests', perMillion: 0.2, page: 'AWS Lambda pricing' },
  gigabyteSecond: { what: 'GB-seconds on Arm', perMillion: 13.3334, page: 'AWS Lambda pricing' },
  read: {
    what: 'read request units',
    perMillion: 0.125,
    page: 'Amazon DynamoDB pricing, on-demand capacity',
  },
  write: {
    what: 'write request units',
    perMillion: 0.625,
    page: 'Amazon DynamoDB pricing, on-demand capacity',
  },
  kms: { what: 'requests with symmetric, HMAC and RSA_2048 keys', perMillion: 3, page: 'AWS KMS pricing' },
  event: { what: 'custom events', perMillion: 1, page: 'Amazon EventBridge pricing' },
  queue: { what: 'SQS requests, standard queue', perMillion: 0.4, page: 'Amazon SQS pricing' },
  mail: { what: 'mails', perMillion: 100, page: 'Amazon SES pricing' },
  logGigabyte: { what: 'GB of logs', perMillion: 500_000, page: 'Amazon CloudWatch pricing' },
} satisfies Record<string, Price>

/** SQS requests for one message: sent alone, received and deleted in batches, which are assumed to be half full. */
const queueRequests = 1 + 2 / 5

/** Calls of a function for one message, in such batches. */
const callsPerMessage = 1 / 5

/** What a call logs, lines and metrics, in bytes: assumed. */
const logBytes = 800

/** Calls of a function that an operation takes. */
export const callsOf = ({ requests, events }: Operation): number => requests + events * callsPerMessage

/** Dollars for a million of an operation. */
export function dollarsPerMillion(operation: Operation): number {
  const { requests, readUnits, writeUnits, signatures, symmetric, events, mails } = operation
  const amounts: Record<keyof typeof prices, number> = {
    gateway: requests,
    invocation: callsOf(operation),
    // Messages of a batch are worked on side by side, but each takes its time.
    gigabyteSecond: ((operation.memory / 1024) * operation.milliseconds) / 1000,
    read: readUnits,
    write: writeUnits,
    kms: signatures + symmetric,
    event: events,
    queue: events * queueRequests,
    mail: mails,
    logGigabyte: (logBytes * (requests + events)) / 1e9,
  }
  return Object.entries(amounts).reduce(
    (sum, [name, amount]) => sum + amount * prices[name as keyof typeof prices].perMillion,
    0,
  )
}

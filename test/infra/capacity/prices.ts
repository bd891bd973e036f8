import type { Operation } from './workload.ts'

/** A price in dollars per million units, and the AWS web page that names it. */
export interface Price {
  unit: string
  perMillion: number
  page: string
}

/** AWS on-demand prices in us-east-1 in the first half of 2026: first price tier, without free tiers. */
export const prices = {
  gateway: { unit: 'HTTP API requests', perMillion: 1, page: 'Amazon API Gateway pricing' },
  invocation: { unit: 'Lambda requests', perMillion: 0.2, page: 'AWS Lambda pricing' },
  gigabyteSecond: { unit: 'GB-seconds on Arm', perMillion: 13.3334, page: 'AWS Lambda pricing' },
  read: {
    unit: 'read request units',
    perMillion: 0.125,
    page: 'Amazon DynamoDB pricing, on-demand capacity',
  },
  write: {
    unit: 'write request units',
    perMillion: 0.625,
    page: 'Amazon DynamoDB pricing, on-demand capacity',
  },
  kms: { unit: 'requests with symmetric, HMAC and RSA_2048 keys', perMillion: 3, page: 'AWS KMS pricing' },
  event: { unit: 'custom events', perMillion: 1, page: 'Amazon EventBridge pricing' },
  queue: { unit: 'SQS requests, standard queue', perMillion: 0.4, page: 'Amazon SQS pricing' },
  mail: { unit: 'mails', perMillion: 100, page: 'Amazon SES pricing' },
  logGigabyte: { unit: 'GB of logs', perMillion: 500_000, page: 'Amazon CloudWatch pricing' },
} satisfies Record<string, Price>

/** SQS requests per message: one to send it, and a fifth each of receiving and deleting a batch of five. */
const queueRequests = 1 + 2 / 5

/** Function calls per SQS message, in batches of five on average. */
const callsPerMessage = 1 / 5

/** Assumed size in bytes of the log lines and metrics of one function call. */
const logBytes = 800

/** Number of function calls that one operation causes. */
export const callsOf = ({ requests, events }: Operation): number => requests + events * callsPerMessage

/**
 * What a gigabyte in the table costs in a month: storage, and point-in-time recovery (Amazon DynamoDB
 * pricing).
 */
export const storageDollarsPerGigabyteMonth = 0.25 + 0.2

/** AWS price in dollars of a million runs of an operation, by what is charged. */
export function dollarsByPrice(operation: Operation): Record<keyof typeof prices, number> {
  const { requests, readUnits, writeUnits, signatures, symmetric, events, mails } = operation
  const amounts: Record<keyof typeof prices, number> = {
    gateway: requests,
    invocation: callsOf(operation),
    // Assumes the full duration for each message, although the messages of a batch are handled concurrently.
    gigabyteSecond: ((operation.memory / 1024) * operation.milliseconds) / 1000,
    read: readUnits,
    write: writeUnits,
    kms: signatures + symmetric,
    event: events,
    queue: events * queueRequests,
    mail: mails,
    logGigabyte: (logBytes * (requests + events)) / 1e9,
  }
  const dollars = Object.entries(amounts).map(([name, amount]) => [
    name,
    amount * prices[name as keyof typeof prices].perMillion,
  ])
  return Object.fromEntries(dollars) as typeof amounts
}

/** AWS price in dollars of a million runs of an operation. */
export const dollarsPerMillion = (operation: Operation): number =>
  Object.values(dollarsByPrice(operation)).reduce((sum, dollars) => sum + dollars, 0)

/** AWS on-demand prices in us-east-1 in the first half of 2026, in dollars a million, without free tiers. */
const prices = {
  /** HTTP API requests (Amazon API Gateway pricing). */
  gateway: 1,
  /** Lambda requests, and GB-seconds on Arm (AWS Lambda pricing). */
  invocation: 0.2,
  gigabyteSecond: 13.3334,
  /** Request units on demand (Amazon DynamoDB pricing). */
  read: 0.125,
  write: 0.625,
  /** Requests with symmetric, HMAC and RSA_2048 keys (AWS KMS pricing). */
  kms: 3,
  /** Custom events (Amazon EventBridge pricing). */
  event: 1,
  /** Requests to a standard queue (Amazon SQS pricing). */
  queue: 0.4,
  /** Mails (Amazon SES pricing). */
  mail: 100,
  /** GB of logs (Amazon CloudWatch pricing). */
  logGigabyte: 500_000,
}

/** What a gigabyte in the table costs in a month: storage, and point-in-time recovery (DynamoDB pricing). */
export const storageDollarsPerGigabyteMonth = 0.25 + 0.2

/** SQS requests per message: one to send it, and a fifth each of receiving and deleting a batch of five. */
const queueRequests = 1 + 2 / 5
/** Function calls per SQS message, in batches of five on average. */
const callsPerMessage = 1 / 5
/** Assumed size in bytes of the log lines and metrics of one function call. */
const logBytes = 800

/** What is charged for an operation. */
export interface Charged {
  requests: number
  events: number
  mails: number
  /** Megabytes of the function. */
  memory: number
  /** Billed duration of one call of it. */
  milliseconds: number
  readUnits: number
  writeUnits: number
  kmsRequests: number
}

/** AWS price in dollars of a million runs of an operation, by what is charged. */
export function dollarsByPrice(operation: Charged): typeof prices {
  const { requests, events, mails, readUnits, writeUnits, kmsRequests } = operation
  const amounts: typeof prices = {
    gateway: requests,
    invocation: requests + events * callsPerMessage,
    // The full duration for each message, although the messages of a batch are handled concurrently.
    gigabyteSecond: ((operation.memory / 1024) * operation.milliseconds) / 1000,
    read: readUnits,
    write: writeUnits,
    kms: kmsRequests,
    event: events,
    queue: events * queueRequests,
    mail: mails,
    logGigabyte: (logBytes * (requests + events)) / 1e9,
  }
  const names = Object.keys(prices) as (keyof typeof prices)[]
  return Object.fromEntries(names.map((name) => [name, amounts[name] * prices[name]])) as typeof prices
}

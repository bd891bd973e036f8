import type { FunctionModel } from '../../../infra/local/model.ts'
import { addBills, type Bill } from '../../support/bill-call.ts'
import { type Row, round } from '../table.ts'
import type { Operation } from './operations.ts'

/** A call to an AWS service, with the times at which it started and ended, in milliseconds. */
export interface AwsCall {
  service: string
  name: string
  startedAt: number
  endedAt: number
}

/** The AWS calls of one run of an operation, and what AWS would charge for the calls to DynamoDB. */
export interface Usage {
  calls: AwsCall[]
  bills: Bill[]
}

/** AWS prices in dollars per million units (pricing pages): us-east-1, first half of 2026, no free tiers. */
const prices = {
  gateway: 1,
  /** Prices of Lambda requests and of GB-seconds on Arm (AWS Lambda pricing). */
  invocation: 0.2,
  gigabyteSecond: 13.3334,
  read: 0.125,
  write: 0.625,
  /** Price of requests with symmetric, HMAC and RSA_2048 keys (AWS KMS pricing). */
  kms: 3,
  event: 1,
  queue: 0.4,
  mail: 100,
  logGigabyte: 500_000,
}

/** What a gigabyte in the table costs in a month: storage, and point-in-time recovery (DynamoDB pricing). */
const storageDollarsPerGigabyteMonth = 0.25 + 0.2

/** SQS requests per message: one to send it, and two for each batch of five (receive, delete). */
const queueRequests = 1 + 2 / 5
/** Lambda invocations per SQS message. On average, one invocation handles five messages. */
const callsPerMessage = 1 / 5
/** Assumed size in bytes of the log lines and metrics of one function call. */
const logBytes = 800

/** Assumed durations in milliseconds: an AWS call within a region, and a function's own work. */
const callMilliseconds = 5
const ownMilliseconds = ({ of }: Operation) => (of === 'user-login-with-password' ? 100 : 10)
const monthsOfTenYears = 120

/** The length of the longest chain of calls in which each call began after the previous call had ended. */
function longestChain(calls: readonly AwsCall[]): number {
  const chains: { endedAt: number; length: number }[] = []
  for (const { startedAt, endedAt } of calls.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const before = chains.filter((chain) => chain.endedAt <= startedAt).map(({ length }) => length)
    chains.push({ endedAt, length: 1 + Math.max(0, ...before) })
  }
  return Math.max(0, ...chains.map(({ length }) => length))
}

/** Computes the table row of an operation: AWS calls, units, stored data, dollars per million operations. */
export function describeCost(operation: Operation, model: FunctionModel, { calls, bills }: Usage): Row {
  const { kind } = operation
  const of = (service: string) => calls.filter((call) => call.service === service)
  const signatures = of('KMS').filter(({ name }) => name === 'SignCommand').length
  const chain = longestChain(calls)
  const { readUnits, writeUnits, keptBytes, keptItems } = addBills(bills)
  const requests = kind === 'request' ? 1 : 0
  const messages = kind === 'event' || kind === 'message' ? 1 : 0
  const milliseconds = chain * callMilliseconds + ownMilliseconds(operation)
  const amounts: typeof prices = {
    gateway: requests,
    invocation: requests + messages * callsPerMessage,
    // Charges the full duration for each message, although a batch handles its messages concurrently.
    gigabyteSecond: ((model.memoryMegabytes / 1024) * milliseconds) / 1000,
    read: readUnits,
    write: writeUnits,
    kms: of('KMS').length,
    event: kind === 'event' ? 1 : 0,
    queue: messages * queueRequests,
    mail: of('SESv2').length,
    logGigabyte: (logBytes * (requests + messages)) / 1e9,
  }
  const names = Object.keys(prices) as (keyof typeof prices)[]
  // Dollars per million operations, because the prices are per million.
  const dollars = Object.fromEntries(
    names.map((name) => [name, amounts[name] * prices[name]]),
  ) as typeof prices
  const floor = dollars.gateway + dollars.event + dollars.queue + dollars.invocation
  return {
    calls: calls.length,
    chain,
    'read units': readUnits,
    'write units': writeUnits,
    KMS: of('KMS').length,
    signatures,
    mails: of('SESv2').length,
    '$ per million': round(Object.values(dollars).reduce((sum, amount) => sum + amount, 0)),
    '× floor': floor === 0 ? undefined : round((floor + dollars.read + dollars.write) / floor),
    'kept items': keptItems,
    'kept bytes': keptBytes,
    '$ of ten years': round((keptBytes / 1e9) * 1e6 * storageDollarsPerGigabyteMonth * monthsOfTenYears),
  }
}

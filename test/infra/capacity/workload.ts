import type { Measured } from './measure.ts'

/**
 * The AWS resources that one operation uses. Calls to DynamoDB and KMS are measured; durations are
 * assumptions.
 */
export interface Operation extends Measured {
  title: string
  /** Number of requests to API Gateway. */
  requests: number
  /** Memory of the function in megabytes. */
  memory: number
  /** Assumed billed duration of one function call in milliseconds. */
  milliseconds: number
  /** Number of events on the bus, each of which goes through an SQS queue. */
  events: number
  mails: number
}

const request = { requests: 1, memory: 256, events: 0, mails: 0, signatures: 0, symmetric: 0 }
const event = { ...request, requests: 0, events: 1, milliseconds: 40 }

/** The AWS usage of every operation in CAPACITY.md; a test compares it with measured runs. */
export const operations = {
  password: {
    ...request,
    title: 'Sign-in, first step (password)',
    memory: 1024,
    milliseconds: 150,
    ...{ calls: 5, readUnits: 2, writeUnits: 4, symmetric: 1 },
  },
  mail: {
    ...event,
    title: 'Mail with the code, to a user without an authenticator',
    milliseconds: 100,
    ...{ calls: 0, readUnits: 0, writeUnits: 0, mails: 1 },
  },
  unneededMail: {
    ...event,
    title: 'Mail that waited, and was not needed',
    milliseconds: 30,
    ...{ calls: 1, readUnits: 1, writeUnits: 0 },
  },
  secondFactor: {
    ...request,
    title: 'Sign-in, second step (authenticator)',
    milliseconds: 60,
    ...{ calls: 2, readUnits: 0, writeUnits: 5, signatures: 1, symmetric: 1 },
  },
  authorize: {
    ...request,
    title: 'Authorization request',
    milliseconds: 15,
    ...{ calls: 1, readUnits: 0.5, writeUnits: 0 },
  },
  consent: {
    ...request,
    title: 'Consent',
    milliseconds: 30,
    ...{ calls: 2, readUnits: 2, writeUnits: 4 },
  },
  token: {
    ...request,
    title: 'Exchange of a code for tokens',
    milliseconds: 60,
    ...{ calls: 4, readUnits: 2.5, writeUnits: 6, signatures: 1 },
  },
  exchange: {
    ...request,
    title: "Exchange of a business server's token",
    milliseconds: 50,
    ...{ calls: 3, readUnits: 2.5, writeUnits: 0, signatures: 1 },
  },
  balances: {
    ...request,
    title: 'Balances',
    milliseconds: 15,
    ...{ calls: 1, readUnits: 1, writeUnits: 0 },
  },
  bills: {
    ...request,
    title: 'List of 20 bills',
    milliseconds: 20,
    ...{ calls: 2, readUnits: 1, writeUnits: 0 },
  },
  dashboard: {
    ...request,
    title: 'Dashboard overview',
    milliseconds: 20,
    ...{ calls: 1, readUnits: 2.5, writeUnits: 0 },
  },
  firstBill: {
    ...event,
    title: "A user's first bill",
    ...{ calls: 3, readUnits: 2, writeUnits: 7 },
  },
  nextBill: { ...event, title: 'Any further bill', ...{ calls: 2, readUnits: 1, writeUnits: 6 } },
} satisfies Record<string, Operation>

/** Name of an operation in CAPACITY.md. */
export type OperationName = keyof typeof operations

/** Assumed number of each operation per sign-in. When a deployment has real numbers, replace these first. */
export const mix: Record<OperationName, number> = {
  password: 1,
  mail: 0.5,
  unneededMail: 0.5,
  secondFactor: 1,
  authorize: 0.2,
  consent: 0.2,
  token: 0.2,
  exchange: 0.1,
  balances: 6,
  bills: 2,
  dashboard: 2,
  firstBill: 0.1,
  nextBill: 0.9,
}

/** The loads that CAPACITY.md describes, in sign-ins per minute. */
export const signInsPerMinute = [10, 10_000, 1_000_000]

/** Adds up an amount over all operations that belong to one sign-in. */
export const totalPerSignIn = (amount: (operation: Operation) => number): number =>
  Object.entries(mix).reduce(
    (sum, [name, times]) => sum + times * amount(operations[name as OperationName]),
    0,
  )

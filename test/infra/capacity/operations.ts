import type { Measured } from './measure.ts'

/** What an operation takes: its calls of DynamoDB and KMS are measured, the rest is counted, and time is assumed. */
export interface Operation extends Measured {
  title: string
  /** Requests that API Gateway takes. */
  requests: number
  /** Memory of the function, in MB, and the time that one call of it is assumed to be billed, in milliseconds. */
  memory: number
  milliseconds: number
  /** Events that come over the bus, each through a queue of its own. */
  events: number
  mails: number
}

const request = { requests: 1, memory: 256, events: 0, mails: 0, signatures: 0, symmetric: 0 }
const event = { ...request, requests: 0, events: 1, milliseconds: 40 }

/** Every operation of the paper. A test holds what is measured to what the functions do. */
export const operations = {
  password: {
    ...request,
    title: 'Password, first step',
    memory: 1024,
    milliseconds: 150,
    ...{ calls: 4, readUnits: 4, writeUnits: 2, symmetric: 1 },
  },
  mail: {
    ...event,
    title: 'Mail with the code, which each first step sends',
    milliseconds: 100,
    ...{ calls: 0, readUnits: 0, writeUnits: 0, mails: 1 },
  },
  secondFactor: {
    ...request,
    title: 'Second step, by authenticator',
    milliseconds: 60,
    ...{ calls: 3, readUnits: 1, writeUnits: 7, signatures: 1, symmetric: 1 },
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
    ...{ calls: 3, readUnits: 2, writeUnits: 4 },
  },
  token: {
    ...request,
    title: 'Code for tokens',
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
    ...{ calls: 2, readUnits: 1, writeUnits: 0 },
  },
  bills: {
    ...request,
    title: 'A page of 20 bills',
    milliseconds: 20,
    ...{ calls: 3, readUnits: 2, writeUnits: 0 },
  },
  dashboard: {
    ...request,
    title: 'Dashboard, overview',
    milliseconds: 20,
    ...{ calls: 4, readUnits: 2.5, writeUnits: 0 },
  },
  firstBill: {
    ...event,
    title: "A bill, a user's first",
    ...{ calls: 3, readUnits: 2, writeUnits: 18 },
  },
  nextBill: { ...event, title: 'A bill, one that follows', ...{ calls: 2, readUnits: 1, writeUnits: 16 } },
} satisfies Record<string, Operation>

/** Name of an operation. */
export type OperationName = keyof typeof operations

/** How often each happens for one sign-in: assumed, and the first thing to replace by what a deployment's dashboard shows. */
export const mix: Record<OperationName, number> = {
  password: 1,
  mail: 1,
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

/** Sign-ins a minute that the paper is about. */
export const levels = [10, 10_000, 1_000_000]

/** How much of something all operations of one sign-in take together. */
export const perSignIn = (amount: (operation: Operation) => number): number =>
  Object.entries(mix).reduce(
    (sum, [name, times]) => sum + times * amount(operations[name as OperationName]),
    0,
  )

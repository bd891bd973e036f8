import { routes } from '../../../infra/routes.ts'
import { callsOf } from './prices.ts'
import { mix, type Operation, type OperationName, perSignIn } from './operations.ts'

/** A quota of AWS or a limit of our own, and how much of it one sign-in a second takes. */
export interface Quota {
  name: string
  /** A second, unless the name says otherwise. */
  limit: number
  /** How much of it one sign-in takes, all operations of the mix together. */
  perSignIn: number
  source: string
}

const concurrency = ({ milliseconds, ...operation }: Operation) =>
  (callsOf(operation as Operation) * milliseconds) / 1000

/** Requests a second that a route takes by our own configuration, where nothing else is configured. */
export const throttleRate = 1_000

const ownThrottle = (entry: string, name: OperationName): Quota => ({
  name: `Our own throttle of POST /${entry}`,
  limit: throttleRate * (routes.find((route) => route.entry === entry)?.throttleShare ?? 1),
  perSignIn: mix[name],
  source: '`throttleRate` (infra/config.ts) and the share of the route (infra/routes.ts)',
})

/** Every quota that one of the levels comes near, with AWS's defaults for a new account in us-east-1. */
export const quotas: Quota[] = [
  ownThrottle('user/login-with-password', 'password'),
  {
    name: 'SES, mails a second',
    limit: 14,
    perSignIn: perSignIn(({ mails }) => mails),
    source: 'SES Developer Guide, Managing your sending limits (14/s and 50,000 a day to begin with)',
  },
  {
    name: 'SES, mails a day',
    limit: 50_000 / 86_400,
    perSignIn: perSignIn(({ mails }) => mails),
    source: 'the same; as a rate that goes on all day',
  },
  {
    name: 'KMS, RSA operations',
    limit: 1_000,
    perSignIn: perSignIn(({ signatures }) => signatures),
    source: 'KMS Developer Guide, Request quotas (shared by all RSA keys; 500 in older editions)',
  },
  {
    name: 'KMS, symmetric operations',
    limit: 10_000,
    perSignIn: perSignIn(({ symmetric }) => symmetric),
    source: 'KMS Developer Guide, Request quotas (10,000 at least; more in the large regions)',
  },
  {
    name: 'API Gateway, requests',
    limit: 10_000,
    perSignIn: perSignIn(({ requests }) => requests),
    source: 'API Gateway Developer Guide, Quotas (account and region; 2,500 in the newer regions)',
  },
  {
    name: 'Lambda, executions at a time',
    limit: 1_000,
    perSignIn: perSignIn(concurrency),
    source: 'Lambda Developer Guide, Lambda quotas (account and region)',
  },
  {
    name: 'DynamoDB, write units of the table',
    limit: 40_000,
    perSignIn: perSignIn(({ writeUnits }) => writeUnits),
    source: 'DynamoDB Developer Guide, Quotas (per table, on demand)',
  },
  {
    name: 'DynamoDB, read units of the table',
    limit: 40_000,
    perSignIn: perSignIn(({ readUnits }) => readUnits),
    source: 'DynamoDB Developer Guide, Quotas (per table, on demand)',
  },
  {
    name: 'EventBridge, PutEvents',
    limit: 10_000,
    perSignIn: perSignIn(({ events }) => events),
    source: 'EventBridge User Guide, Quotas (us-east-1; less elsewhere)',
  },
  {
    name: 'EventBridge, invocations of targets',
    limit: 18_750,
    perSignIn: perSignIn(({ events }) => events),
    source: 'EventBridge User Guide, Quotas (us-east-1; 750 to 4,500 elsewhere)',
  },
]

/** Share of a quota that so many sign-ins a minute use; 1 is all of it. */
export const shareOf = (quota: Quota, signInsPerMinute: number): number =>
  ((signInsPerMinute / 60) * quota.perSignIn) / quota.limit

import { routes } from '../../../infra/routes.ts'
import { callsOf } from './prices.ts'
import { mix, type Operation, type OperationName, totalPerSignIn } from './workload.ts'

/** An AWS quota or a limit of the service, and how much of it one sign-in uses. */
export interface Quota {
  name: string
  /** The quota in units per second, unless its name says otherwise. */
  limit: number
  /** Units of the quota that one sign-in uses with all its operations. */
  perSignIn: number
  source: string
}

const concurrency = ({ milliseconds, ...operation }: Operation) =>
  (callsOf(operation as Operation) * milliseconds) / 1000

/** Requests per second for one route: the default of the knob `throttleRate`. */
export const throttleRate = 1_000

const ownThrottle = (entry: string, name: OperationName): Quota => ({
  name: `Throttle of POST /${entry}`,
  limit: throttleRate * (routes.find((route) => route.entry === entry)?.throttleShare ?? 1),
  perSignIn: mix[name],
  source: '`throttleRate` (infra/config.ts) and the route’s `throttleShare` (infra/routes.ts)',
})

/**
 * Every AWS quota that one of the described loads approaches, with its default for a new account in
 * us-east-1.
 */
export const quotas: Quota[] = [
  ownThrottle('user/login-with-password', 'password'),
  {
    name: 'SES, mails per second',
    limit: 14,
    perSignIn: totalPerSignIn(({ mails }) => mails),
    source:
      'SES Developer Guide, Managing your sending limits (outside the sandbox: initially 14/s and 50,000 per day)',
  },
  {
    name: 'SES, mails per day',
    limit: 50_000 / 86_400,
    perSignIn: totalPerSignIn(({ mails }) => mails),
    source: 'as above, spread over the whole day',
  },
  {
    name: 'KMS, RSA operations',
    limit: 1_000,
    perSignIn: totalPerSignIn(({ signatures }) => signatures),
    source: 'KMS Developer Guide, Request quotas (shared by all RSA keys; 500 in older editions)',
  },
  {
    name: 'KMS, symmetric operations',
    limit: 10_000,
    perSignIn: totalPerSignIn(({ symmetric }) => symmetric),
    source: 'KMS Developer Guide, Request quotas (at least 10,000; more in large regions)',
  },
  {
    name: 'API Gateway, requests',
    limit: 10_000,
    perSignIn: totalPerSignIn(({ requests }) => requests),
    source: 'API Gateway Developer Guide, Quotas (per account and region; 2,500 in newer regions)',
  },
  {
    name: 'Lambda, concurrent executions',
    limit: 1_000,
    perSignIn: totalPerSignIn(concurrency),
    source: 'Lambda Developer Guide, Lambda quotas (per account and region; new accounts begin with less)',
  },
  {
    name: 'DynamoDB, write units of a new table',
    limit: 4_000,
    perSignIn: totalPerSignIn(({ writeUnits }) => writeUnits),
    source: 'DynamoDB Developer Guide, DynamoDB warm throughput (on demand; it grows with the traffic)',
  },
  {
    name: 'DynamoDB, read units of a new table',
    limit: 12_000,
    perSignIn: totalPerSignIn(({ readUnits }) => readUnits),
    source: 'as above',
  },
  {
    name: 'DynamoDB, write units of a table',
    limit: 40_000,
    perSignIn: totalPerSignIn(({ writeUnits }) => writeUnits),
    source: 'DynamoDB Developer Guide, Quotas (per table, on demand)',
  },
  {
    name: 'DynamoDB, read units of a table',
    limit: 40_000,
    perSignIn: totalPerSignIn(({ readUnits }) => readUnits),
    source: 'DynamoDB Developer Guide, Quotas (per table, on demand)',
  },
  {
    name: 'EventBridge, PutEvents',
    limit: 10_000,
    perSignIn: totalPerSignIn(({ events }) => events),
    source: 'EventBridge User Guide, Quotas (us-east-1; 2,400 in us-east-2, less in most regions)',
  },
  {
    name: 'EventBridge, target invocations',
    limit: 18_750,
    perSignIn: totalPerSignIn(({ events }) => events),
    source: 'EventBridge User Guide, Quotas (also us-west-2 and eu-west-1; 750 to 4,500 elsewhere)',
  },
]

/** Share of a quota that a load uses; 1 is the whole quota. */
export const shareOf = (quota: Quota, signInsPerMinute: number): number =>
  ((signInsPerMinute / 60) * quota.perSignIn) / quota.limit

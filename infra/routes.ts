import { isDeepStrictEqual } from 'node:util'
import { ownSource } from '../shared/events/own-source.ts'
import type { Permissions } from './permissions.ts'

/** An endpoint: its route, its handler, and the permissions of the function that runs it. */
export interface Route {
  /** A HEAD route goes with a GET route of the same entry; API Gateway sends its answer without the body. */
  method: 'GET' | 'HEAD' | 'POST'
  path: string
  /** Path of the handler under functions/, without `.ts`. Routes with the same entry share one function. */
  entry: string
  /** Marks an endpoint that needs no access_token. Every other endpoint requires one. */
  public?: true
  /** Fraction of the stage's throttle that an expensive route gets. Default: 1. */
  throttleShare?: number
  canary?: Canary
  permissions: Permissions
}

/**
 * Marks a function whose new version is tried on a tenth of its calls, before any other function of the stack
 * gets its new version. The marked ones are called often, and together run most of shared/: sign-in, tokens,
 * pages of bills, member lists, and what moves money. At most five in a stack: see infra/DECISIONS.md.
 */
type Canary = true

/** The systems around the service that send events, by the `source` of their events. */
export const outsideSenders = ['business', 'chain', 'rewards', 'operator'] as const

/** A sender of events, named by the `source` of its events: a system around the service, or the service. */
export type Sender = (typeof outsideSenders)[number] | typeof ownSource

/** An event type of the bus. Its handler is functions/intake/DETAIL-TYPE.ts. */
export interface Event {
  detailType: string
  /** The senders from which the bus takes the event: see infra/event-patterns.ts. */
  senders: readonly Sender[]
  /** Marks an event that holds a password digest or a secret: its queues are encrypted by a key of ours. */
  confidential?: true
  canary?: Canary
  permissions: Permissions
}

/** A function that EventBridge runs on a schedule. */
export interface Schedule {
  /** Path of the handler under functions/schedule/, without `.ts`; also the function's name. */
  name: string
  /** EventBridge schedule expression, such as `rate(1 minute)`. */
  rate: string
  permissions: Permissions
}

/**
 * A function with its own FIFO queue, which handles the messages of a group one after another. A function
 * that sends to the queue lists the worker's name in its permission `queues`.
 */
export interface Worker {
  /** Path of the handler under functions/worker/, without `.ts`; also the name of queue and function. */
  name: string
  permissions: Permissions
}

/**
 * Throttle share of each route that signs tokens: together, the three stay below KMS's quota of 1,000 RSA
 * signatures a second.
 */
const signingShare = 0.3

export const routes: Route[] = [
  // Sign-in flow
  {
    method: 'GET',
    path: '/oauth2/authorize',
    entry: 'oauth2/authorize',
    public: true,
    permissions: { table: { GetItem: ['CLIENT#'] } },
  },
  {
    method: 'GET',
    path: '/oauth2/authorize/request',
    entry: 'oauth2/describe-request',
    public: true,
    permissions: { table: { GetItem: ['CLIENT#'] } },
  },
  {
    method: 'POST',
    path: '/oauth2/authorize/consent',
    entry: 'oauth2/consent',
    permissions: {
      table: { GetItem: ['CLIENT#', 'TOKENS#'], PutItem: ['CODE#'], ConditionCheckItem: ['TOKENS#'] },
    },
  },
  {
    method: 'POST',
    path: '/oauth2/token',
    entry: 'oauth2/token',
    public: true,
    canary: true,
    throttleShare: signingShare,
    permissions: {
      table: {
        GetItem: ['CLIENT#', 'CODE#', 'KEYS', 'TOKENS#', 'USER#'],
        PutItem: ['TOKENS#'],
        UpdateItem: ['CODE#'],
        DeleteItem: ['TOKENS#'],
        ConditionCheckItem: ['TOKENS#'],
      },
      macKey: ['GenerateMac'],
      signingKeys: 'sign',
    },
  },
  {
    method: 'POST',
    path: '/oauth2/authorize',
    entry: 'oauth2/exchange',
    public: true,
    throttleShare: signingShare,
    permissions: { table: { GetItem: ['CLIENT#', 'KEYS', 'TOKENS#', 'USER#'] }, signingKeys: 'sign' },
  },
  {
    method: 'GET',
    path: '/oauth2/userinfo',
    entry: 'oauth2/userinfo',
    permissions: { table: { GetItem: ['TOKENS#', 'USER#'] } },
  },
  {
    method: 'POST',
    path: '/oauth2/userinfo',
    entry: 'oauth2/userinfo',
    permissions: { table: { GetItem: ['TOKENS#', 'USER#'] } },
  },
  {
    method: 'POST',
    path: '/oauth2/revoke',
    entry: 'oauth2/revoke',
    public: true,
    // Anyone may send a client secret, and its check is a call of KMS.
    throttleShare: 0.3,
    permissions: {
      table: { GetItem: ['CLIENT#', 'TOKENS#'], Query: ['TOKENS#'], DeleteItem: ['TOKENS#'] },
      macKey: ['GenerateMac'],
    },
  },
  {
    method: 'GET',
    path: '/.well-known/jwks.json',
    entry: 'well-known/jwks',
    public: true,
    permissions: { table: { GetItem: ['KEYS'] } },
  },
  {
    method: 'HEAD',
    path: '/.well-known/jwks.json',
    entry: 'well-known/jwks',
    public: true,
    permissions: { table: { GetItem: ['KEYS'] } },
  },
  {
    method: 'GET',
    path: '/.well-known/openid-configuration',
    entry: 'well-known/openid-configuration',
    public: true,
    permissions: {},
  },
  {
    method: 'HEAD',
    path: '/.well-known/openid-configuration',
    entry: 'well-known/openid-configuration',
    public: true,
    permissions: {},
  },
  // Password login
  {
    method: 'POST',
    path: '/user/login-with-password',
    entry: 'user/login-with-password',
    public: true,
    canary: true,
    // A password check takes 30 ms of CPU time, so this route has a lower throttle, and more memory for more
    // CPU.
    throttleShare: 0.3,
    permissions: {
      table: { BatchGetItem: ['EMAIL#', 'GUESS#'], UpdateItem: ['GUESS#', 'SIGNIN#'] },
      macKey: ['GenerateMac'],
      publish: ['mail.requested'],
      memory: 1024,
    },
  },
  {
    method: 'POST',
    path: '/user/login/2fa',
    entry: 'user/login-2fa',
    public: true,
    canary: true,
    throttleShare: signingShare,
    permissions: {
      table: { GetItem: ['KEYS'], PutItem: ['TOKENS#'], UpdateItem: ['SIGNIN#'] },
      totpKey: ['Decrypt'],
      signingKeys: 'sign',
      publish: ['mail.requested'],
    },
  },
  {
    method: 'POST',
    path: '/user/logout',
    entry: 'user/logout',
    permissions: { table: { GetItem: ['TOKENS#'], Query: ['TOKENS#'], DeleteItem: ['TOKENS#'] } },
  },
  // Asset wallet
  {
    method: 'GET',
    path: '/account/info',
    entry: 'account/info',
    permissions: { table: { GetItem: ['TOKENS#', 'W#*#asset'] } },
  },
  {
    method: 'GET',
    path: '/account/bills',
    entry: 'account/bills',
    canary: true,
    permissions: {
      table: { GetItem: ['TOKENS#', 'W#*#asset'], Query: ['BL#*#asset#'] },
      index: ['BL#*#asset#'],
    },
  },
  {
    method: 'GET',
    path: '/account/asset',
    entry: 'account/asset',
    permissions: { table: { GetItem: ['RATES', 'TOKENS#', 'W#*#asset'] } },
  },
  // Reward wallet
  {
    method: 'GET',
    path: '/bonus-account/info',
    entry: 'bonus-account/info',
    permissions: { table: { GetItem: ['TOKENS#', 'W#*#reward'] } },
  },
  {
    method: 'GET',
    path: '/bonus-account/bills',
    entry: 'bonus-account/bills',
    permissions: {
      table: { GetItem: ['TOKENS#', 'W#*#reward'], Query: ['BL#*#reward#'] },
      index: ['BL#*#reward#'],
    },
  },
  {
    method: 'GET',
    path: '/bonus-account/asset',
    entry: 'bonus-account/asset',
    permissions: { table: { GetItem: ['RATES', 'TOKENS#', 'W#*#reward'] } },
  },
  // Community members
  {
    method: 'GET',
    path: '/community/members',
    entry: 'community/members',
    canary: true,
    // A search of a million members takes over a second of a whole processor, which Lambda gives at 1,769 MB
    // (AWS: Configure Lambda function memory).
    permissions: {
      table: {
        GetItem: ['EMAIL#', 'TOKENS#'],
        BatchGetItem: ['DIR#', 'MEMBER#', 'NOTE#', 'SEARCH#', 'TEAM#', 'TEXT#'],
        PutItem: ['SEARCH#'],
      },
      memory: 1769,
    },
  },
  {
    method: 'GET',
    path: '/community/members/export',
    entry: 'community/export',
    // An export may read 10,000 members, so this route has a low throttle.
    throttleShare: 0.02,
    permissions: {
      table: {
        GetItem: ['EMAIL#', 'TOKENS#'],
        BatchGetItem: ['DIR#', 'MEMBER#', 'NOTE#', 'SEARCH#', 'TEAM#', 'TEXT#'],
        PutItem: ['SEARCH#'],
      },
      memory: 1769,
    },
  },
  {
    method: 'POST',
    path: '/community/members/note',
    entry: 'community/note',
    permissions: { table: { GetItem: ['MEMBER#', 'TOKENS#'], PutItem: ['NOTE#'], DeleteItem: ['NOTE#'] } },
  },
  // Rewards dashboard
  {
    method: 'GET',
    path: '/dashboard/overview',
    entry: 'dashboard/overview',
    permissions: { table: { GetItem: ['TOKENS#', 'W#'], BatchGetItem: ['EARN#'] } },
  },
  {
    method: 'GET',
    path: '/dashboard/network-rewards',
    entry: 'dashboard/network-rewards',
    permissions: { table: { GetItem: ['TOKENS#'], BatchGetItem: ['EARN#'] } },
  },
  {
    method: 'GET',
    path: '/dashboard/earnings',
    entry: 'dashboard/earnings',
    permissions: { table: { GetItem: ['TOKENS#'], Query: ['EARN#'] } },
  },
  // Deposits
  {
    method: 'GET',
    path: '/address/info',
    entry: 'address/info',
    permissions: {
      table: {
        GetItem: ['ADDR#', 'ADDRS#', 'POOL#', 'TOKENS#'],
        Query: ['POOL#'],
        PutItem: ['ADDRS#'],
        UpdateItem: ['ADDR#'],
        DeleteItem: ['POOL#'],
      },
    },
  },
  {
    method: 'GET',
    path: '/deposit/records',
    entry: 'deposit/records',
    permissions: { table: { GetItem: ['DL#', 'TOKENS#'], Query: ['DL#'] }, index: ['DL#'] },
  },
  {
    method: 'GET',
    path: '/deposit/get/{id}',
    entry: 'deposit/get',
    permissions: { table: { GetItem: ['DEP#', 'TOKENS#'] } },
  },
]

export const events: Event[] = [
  // Password login
  {
    detailType: 'user.registered',
    senders: ['business', 'operator'],
    confidential: true,
    canary: true,
    permissions: {
      table: {
        GetItem: ['MEMBER#'],
        PutItem: ['EMAIL#', 'EVT#user.registered#', 'MEMBER#', 'REFUSED#', 'SIGNIN#', 'TREE#', 'USER#'],
        UpdateItem: ['WAKE#'],
        ConditionCheckItem: ['USER#'],
      },
      macKey: ['GenerateMac'],
      totpKey: ['Encrypt'],
      queues: ['grow-tree'],
      memory: 1024,
    },
  },
  {
    detailType: 'user.updated',
    senders: ['business', 'operator'],
    confidential: true,
    permissions: {
      table: {
        GetItem: ['MEMBER#', 'TEXT#', 'USER#'],
        Query: ['TOKENS#'],
        PutItem: ['EMAIL#', 'EVT#user.updated#', 'REFUSED#', 'TEXT#'],
        UpdateItem: ['MEMBER#', 'SIGNIN#', 'USER#'],
        DeleteItem: ['EMAIL#', 'TOKENS#'],
        ConditionCheckItem: ['USER#'],
      },
      macKey: ['GenerateMac'],
      totpKey: ['Encrypt'],
      memory: 1024,
    },
  },
  {
    detailType: 'mail.requested',
    senders: [ownSource],
    canary: true,
    permissions: { table: { PutItem: ['EVT#mail.requested#', 'REFUSED#'] }, mail: true },
  },
  // Sign-in flow
  {
    detailType: 'client.registered',
    senders: ['business', 'operator'],
    confidential: true,
    permissions: {
      table: { PutItem: ['CLIENT#', 'EVT#client.registered#', 'REFUSED#'] },
      macKey: ['GenerateMac'],
    },
  },
  // Wallets
  {
    detailType: 'wallet.adjusted',
    senders: ['operator'],
    permissions: {
      table: {
        GetItem: ['EVT#wallet.adjusted#', 'USER#', 'W#'],
        PutItem: ['BL#', 'EVT#wallet.adjusted#', 'REFUSED#', 'W#'],
      },
    },
  },
  {
    detailType: 'wallet.transferred',
    senders: ['business'],
    permissions: {
      table: {
        GetItem: ['EVT#wallet.transferred#', 'USER#', 'W#'],
        PutItem: ['BL#', 'EVT#wallet.transferred#', 'REFUSED#', 'W#'],
      },
    },
  },
  {
    detailType: 'withdrawal.updated',
    senders: ['business'],
    canary: true,
    permissions: {
      table: {
        GetItem: ['EVT#withdrawal.updated#', 'USER#', 'W#*#asset', 'WD#'],
        PutItem: ['BL#*#asset#', 'EVT#withdrawal.updated#', 'REFUSED#', 'W#*#asset', 'WD#'],
        ConditionCheckItem: ['USER#'],
      },
    },
  },
  {
    detailType: 'reward.granted',
    senders: ['rewards'],
    canary: true,
    permissions: {
      table: {
        GetItem: ['EVT#reward.granted#', 'RATES', 'USER#', 'W#*#reward'],
        PutItem: ['BL#*#reward#', 'EVT#reward.granted#', 'REFUSED#', 'W#*#reward'],
        UpdateItem: ['EARN#'],
      },
    },
  },
  {
    detailType: 'rates.published',
    senders: ['business', 'operator'],
    permissions: { table: { PutItem: ['EVT#rates.published#', 'RATES', 'REFUSED#'] } },
  },
  // Community members
  {
    detailType: 'package.purchased',
    senders: ['business'],
    permissions: {
      table: {
        GetItem: ['EVT#package.purchased#', 'MEMBER#', 'USER#', 'W#'],
        PutItem: ['BL#', 'EVT#package.purchased#', 'REFUSED#', 'TREE#', 'W#'],
        UpdateItem: ['MEMBER#', 'WAKE#'],
      },
      queues: ['grow-tree'],
    },
  },
  // Rewards dashboard
  {
    detailType: 'device.activated',
    senders: ['business'],
    permissions: {
      table: {
        GetItem: ['DEVICE#'],
        PutItem: ['DEVICE#', 'EVT#device.activated#', 'REFUSED#'],
        UpdateItem: ['EARN#'],
        ConditionCheckItem: ['USER#'],
      },
    },
  },
  {
    detailType: 'device.deactivated',
    senders: ['business'],
    permissions: {
      table: {
        GetItem: ['DEVICE#'],
        PutItem: ['DEVICE#', 'EVT#device.deactivated#', 'REFUSED#'],
        UpdateItem: ['EARN#'],
        ConditionCheckItem: ['USER#'],
      },
    },
  },
  {
    detailType: 'traffic.reported',
    senders: ['business'],
    permissions: {
      table: {
        PutItem: ['EVT#traffic.reported#', 'REFUSED#'],
        UpdateItem: ['EARN#'],
        ConditionCheckItem: ['USER#'],
      },
    },
  },
  // Deposits
  {
    detailType: 'addresses.provisioned',
    senders: ['business', 'chain', 'operator'],
    permissions: {
      table: {
        BatchGetItem: ['ADDR#'],
        PutItem: [
          'ADDR#',
          'EVT#addresses.provisioned#',
          'EVT#addresses.provisioned.chunk#',
          'POOL#',
          'REFUSED#',
        ],
      },
    },
  },
  {
    detailType: 'deposit.updated',
    senders: ['chain'],
    canary: true,
    permissions: {
      table: {
        GetItem: ['ADDR#', 'DEP#', 'DL#', 'USER#', 'W#*#asset'],
        PutItem: ['BL#*#asset#', 'DEP#', 'DL#', 'EVT#deposit.updated#', 'REFUSED#', 'W#*#asset'],
      },
    },
  },
]

export const workers: Worker[] = [
  // Community members
  {
    name: 'grow-tree',
    permissions: {
      table: {
        GetItem: ['TREE#'],
        BatchGetItem: ['DIR#', 'MEMBER#', 'TEAM#', 'TEXT#', 'TREE#'],
        Query: ['TREE#'],
        PutItem: ['DIR#', 'TEAM#', 'TEXT#', 'TREE#'],
        UpdateItem: ['MEMBER#', 'WAKE#'],
        DeleteItem: ['TREE#', 'WAKE#'],
      },
      queues: ['grow-tree'],
      memory: 512,
    },
  },
]

export const schedules: Schedule[] = [
  {
    // The shortest interval of EventBridge. A new deployment gets its first signing key within a minute, and
    // tests can rotate keys in minutes.
    name: 'rotate-signing-keys',
    rate: 'rate(1 minute)',
    permissions: { table: { GetItem: ['KEYS'], PutItem: ['KEYS'] }, signingKeys: 'manage' },
  },
  {
    name: 'verify-ledger',
    rate: 'cron(0 3 * * ? *)',
    permissions: {
      table: { GetItem: ['VERIFICATION', 'W#'], Query: ['BL#'], PutItem: ['VERIFICATION'] },
      index: ['WALLETS#'],
      memory: 512,
      timeout: 900,
    },
  },
]

/** A Lambda function, and the routes whose requests it handles. */
export interface EndpointFunction {
  entry: string
  /** Whether one of the routes is marked as a canary. */
  canary: boolean
  permissions: Permissions
  routes: Route[]
}

/**
 * Groups routes by entry into functions, in the order of the routes. Throws if two routes of one entry have
 * different permissions: the function has only one set, so one of the two would be ignored.
 */
export function endpointFunctions(all: readonly Route[] = routes): EndpointFunction[] {
  return [...Map.groupBy(all, ({ entry }) => entry)].map(([entry, served]) => {
    const [permissions = {}, ...others] = served.map((route) => route.permissions)
    if (!others.every((other) => isDeepStrictEqual(other, permissions)))
      throw new Error(`the routes of ${entry} differ in their permissions; they share one function`)
    return { entry, canary: served.some((route) => route.canary), permissions, routes: served }
  })
}

import type { Permissions } from './permissions.ts'

/** An endpoint: its route, the file that handles it, and exactly what that file may do. */
export interface Route {
  method: 'GET' | 'POST'
  path: string
  /** Path under functions/, without `.ts`. */
  entry: string
  /** Open to everyone; every other endpoint checks an access_token. */
  public?: true
  /** Share of the stage's throttle that this route gets, where one call costs much more than others do; all of it by default. */
  throttleShare?: number
  permissions: Permissions
}

/** A sender of events: the business server, the chain watcher, the reward engine, an operator, or this service itself. */
type Sender = 'business' | 'chain' | 'rewards' | 'operator' | 'account-service'

/** An event of the bus: its detail-type names the file under functions/intake/. */
export interface Event {
  detailType: string
  /** Who sends it. */
  senders: readonly Sender[]
  permissions: Permissions
}

/** A function that runs by the clock. */
export interface Schedule {
  /** Path under functions/schedule/, without `.ts`; also the function's name. */
  name: string
  /** EventBridge's schedule expression. */
  rate: string
  permissions: Permissions
}

/**
 * A function fed by a first-in-first-out queue of its own, whose messages are handled one after another within a group.
 * Functions that send to it name it under `queues`, and find its address in the environment: `NAME_QUEUE_URL`.
 */
export interface Worker {
  /** Path under functions/worker/, without `.ts`; also the queue's and the function's name. */
  name: string
  permissions: Permissions
}

/** KMS grants an account 1,000 RSA signatures a second: the three that sign stay below it together, by default. */
const signing = 0.3

export const routes: Route[] = [
  // Sign-in flow
  {
    method: 'GET',
    path: '/oauth2/authorize',
    entry: 'oauth2/authorize',
    public: true,
    permissions: { table: ['GetItem'] },
  },
  {
    method: 'POST',
    path: '/oauth2/authorize/consent',
    entry: 'oauth2/consent',
    permissions: { table: ['GetItem', 'PutItem', 'ConditionCheckItem'] },
  },
  {
    method: 'POST',
    path: '/oauth2/token',
    entry: 'oauth2/token',
    public: true,
    throttleShare: signing,
    permissions: {
      table: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
      signingKeys: 'sign',
    },
  },
  {
    method: 'POST',
    path: '/oauth2/authorize',
    entry: 'oauth2/exchange',
    public: true,
    throttleShare: signing,
    permissions: { table: ['GetItem'], signingKeys: 'sign' },
  },
  {
    method: 'GET',
    path: '/oauth2/userinfo',
    entry: 'oauth2/userinfo',
    permissions: { table: ['GetItem'] },
  },
  {
    method: 'POST',
    path: '/oauth2/userinfo',
    entry: 'oauth2/userinfo',
    permissions: { table: ['GetItem'] },
  },
  {
    method: 'POST',
    path: '/oauth2/revoke',
    entry: 'oauth2/revoke',
    public: true,
    permissions: { table: ['GetItem', 'Query', 'DeleteItem'] },
  },
  {
    method: 'GET',
    path: '/.well-known/jwks.json',
    entry: 'well-known/jwks',
    public: true,
    permissions: { table: ['GetItem'] },
  },
  {
    method: 'GET',
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
    // Each tries a password, at 30 ms of a CPU.
    throttleShare: 0.3,
    permissions: {
      table: ['BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem'],
      macKey: ['GenerateMac'],
      publish: true,
      memory: 1024,
    },
  },
  {
    method: 'POST',
    path: '/user/login/2fa',
    entry: 'user/login-2fa',
    public: true,
    throttleShare: signing,
    permissions: {
      table: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
      totpKey: ['Decrypt'],
      signingKeys: 'sign',
    },
  },
  {
    method: 'POST',
    path: '/user/logout',
    entry: 'user/logout',
    permissions: { table: ['GetItem', 'Query', 'DeleteItem'] },
  },
  // Asset wallet
  { method: 'GET', path: '/account/info', entry: 'account/info', permissions: { table: ['GetItem'] } },
  {
    method: 'GET',
    path: '/account/bills',
    entry: 'account/bills',
    permissions: { table: ['GetItem', 'Query'], index: true },
  },
  { method: 'GET', path: '/account/asset', entry: 'account/asset', permissions: { table: ['GetItem'] } },
  // Reward wallet
  {
    method: 'GET',
    path: '/bonus-account/info',
    entry: 'bonus-account/info',
    permissions: { table: ['GetItem'] },
  },
  {
    method: 'GET',
    path: '/bonus-account/bills',
    entry: 'bonus-account/bills',
    permissions: { table: ['GetItem', 'Query'], index: true },
  },
  {
    method: 'GET',
    path: '/bonus-account/asset',
    entry: 'bonus-account/asset',
    permissions: { table: ['GetItem'] },
  },
  // Community members
  {
    method: 'GET',
    path: '/community/members',
    entry: 'community/members',
    // A keyword over a large downline holds its texts in memory.
    permissions: { table: ['GetItem', 'BatchGetItem'], memory: 512 },
  },
  {
    method: 'GET',
    path: '/community/members/export',
    entry: 'community/export',
    // Each may read 10,000 members.
    throttleShare: 0.02,
    permissions: { table: ['GetItem', 'BatchGetItem'], memory: 1024 },
  },
  {
    method: 'POST',
    path: '/community/members/note',
    entry: 'community/note',
    permissions: { table: ['GetItem', 'PutItem', 'DeleteItem'] },
  },
  // Rewards dashboard
  {
    method: 'GET',
    path: '/dashboard/overview',
    entry: 'dashboard/overview',
    permissions: { table: ['GetItem', 'BatchGetItem'] },
  },
  {
    method: 'GET',
    path: '/dashboard/network-rewards',
    entry: 'dashboard/network-rewards',
    permissions: { table: ['GetItem', 'BatchGetItem'] },
  },
  {
    method: 'GET',
    path: '/dashboard/earnings',
    entry: 'dashboard/earnings',
    permissions: { table: ['GetItem', 'Query'] },
  },
  // Deposits
  {
    method: 'GET',
    path: '/address/info',
    entry: 'address/info',
    permissions: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] },
  },
  {
    method: 'GET',
    path: '/deposit/records',
    entry: 'deposit/records',
    permissions: { table: ['GetItem', 'Query'], index: true },
  },
  { method: 'GET', path: '/deposit/get/{id}', entry: 'deposit/get', permissions: { table: ['GetItem'] } },
]

export const events: Event[] = [
  // Password login
  {
    detailType: 'user.registered',
    senders: ['business', 'operator'],
    permissions: {
      table: ['GetItem', 'PutItem', 'ConditionCheckItem'],
      macKey: ['GenerateMac'],
      totpKey: ['Encrypt'],
      queues: ['grow-tree'],
      memory: 1024,
    },
  },
  {
    detailType: 'user.updated',
    senders: ['business', 'operator'],
    permissions: {
      table: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem', 'Query'],
      macKey: ['GenerateMac'],
      totpKey: ['Encrypt'],
      memory: 1024,
    },
  },
  { detailType: 'mail.requested', senders: ['account-service'], permissions: { mail: true } },
  // Sign-in flow
  { detailType: 'client.registered', senders: ['business', 'operator'], permissions: { table: ['PutItem'] } },
  // Wallets
  { detailType: 'wallet.adjusted', senders: ['operator'], permissions: { table: ['GetItem', 'PutItem'] } },
  { detailType: 'wallet.transferred', senders: ['business'], permissions: { table: ['GetItem', 'PutItem'] } },
  {
    detailType: 'withdrawal.updated',
    senders: ['business'],
    permissions: { table: ['GetItem', 'PutItem', 'ConditionCheckItem'] },
  },
  {
    detailType: 'reward.granted',
    senders: ['rewards'],
    permissions: { table: ['GetItem', 'PutItem', 'UpdateItem'] },
  },
  { detailType: 'rates.published', senders: ['business', 'operator'], permissions: { table: ['PutItem'] } },
  // Community members
  {
    detailType: 'package.purchased',
    senders: ['business'],
    permissions: {
      table: ['GetItem', 'PutItem', 'UpdateItem'],
      queues: ['grow-tree'],
    },
  },
  // Rewards dashboard
  {
    detailType: 'device.activated',
    senders: ['business'],
    permissions: { table: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'] },
  },
  {
    detailType: 'device.deactivated',
    senders: ['business'],
    permissions: { table: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'] },
  },
  {
    detailType: 'traffic.reported',
    senders: ['business'],
    permissions: { table: ['PutItem', 'UpdateItem', 'ConditionCheckItem'] },
  },
  // Deposits
  {
    detailType: 'addresses.provisioned',
    senders: ['business', 'chain', 'operator'],
    permissions: { table: ['BatchGetItem', 'PutItem'] },
  },
  { detailType: 'deposit.updated', senders: ['chain'], permissions: { table: ['GetItem', 'PutItem'] } },
]

export const workers: Worker[] = [
  // Community members
  {
    name: 'grow-tree',
    permissions: {
      table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
      memory: 512,
    },
  },
]

export const schedules: Schedule[] = [
  {
    // EventBridge's finest: a new deployment has its first key within a minute, and a laptop may rotate in minutes.
    name: 'rotate-signing-keys',
    rate: 'rate(1 minute)',
    permissions: { table: ['GetItem', 'PutItem'], signingKeys: 'manage' },
  },
  {
    name: 'verify-ledger',
    rate: 'cron(0 3 * * ? *)',
    permissions: { table: ['GetItem', 'Query', 'PutItem'], index: true, memory: 512, timeout: 900 },
  },
]

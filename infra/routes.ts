import type { Permissions } from './permissions.ts'

/** An endpoint: its route, its handler, and the permissions of the function that runs it. */
export interface Route {
  /** A HEAD route has the `entry` of its GET route. API Gateway removes the body from an answer to HEAD. */
  method: 'GET' | 'HEAD' | 'POST'
  path: string
  /** Path of the handler under functions/, without `.ts`. Routes with the same entry share one function. */
  entry: string
  /** Marks an endpoint that needs no access_token. Every other endpoint requires one. */
  public?: true
  /** Fraction of the stage's throttle that an expensive route gets. Default: 1. */
  throttleShare?: number
  permissions: Permissions
}

/**
 * The share of the stage's throttle that each of the three token-signing routes gets. With the default
 * throttle, the three routes together stay below KMS's quota of 1,000 RSA signatures a second.
 */
const signingShare = 0.3

/**
 * Permissions and memory of the functions that list or export members. Searching a million members takes
 * about a second of CPU time. With 1,769 MB, a function has a whole processor (AWS: Configure Lambda function
 * memory).
 */
const searchPermissions: Permissions = {
  reads: ['DIR#', 'EMAIL#', 'ENDED#', 'MEMBER#', 'NOTE#', 'SEARCH#', 'TEAM#', 'TOKENS#'],
  writes: ['SEARCH#'],
  memory: 1769,
}

/**
 * The share of the stage's throttle that a route with an export gets: an export may read 10,000 items.
 */
const exportShare = 0.02

/** Permissions and memory of a function that exports bills: 10,000 bills take half a second of CPU time. */
const billsExport = (wallet: 'asset' | 'reward'): Permissions => ({
  reads: [`BL#*#${wallet}`, `BX#*#${wallet}`, 'ENDED#', 'TOKENS#', `W#*#${wallet}`],
  memory: 1769,
})

const forMethods = (methods: Route['method'][], row: Omit<Route, 'method'>): Route[] =>
  methods.map((method) => ({ method, ...row }))

/** Every endpoint, grouped by subject. */
export const routes: Route[] = [
  // Sign-in flow
  {
    method: 'GET',
    path: '/oauth2/authorize',
    entry: 'oauth2/authorize',
    public: true,
    permissions: { reads: ['CLIENT#', 'KEYS'] },
  },
  {
    method: 'GET',
    path: '/oauth2/authorize/request',
    entry: 'oauth2/describe-request',
    public: true,
    permissions: { reads: ['CLIENT#', 'KEYS'] },
  },
  {
    method: 'POST',
    path: '/oauth2/authorize/consent',
    entry: 'oauth2/consent',
    permissions: { reads: ['CLIENT#', 'ENDED#', 'KEYS', 'TOKENS#'], writes: ['CODE#'] },
  },
  {
    method: 'GET',
    path: '/oauth2/sign-out/request',
    entry: 'oauth2/describe-sign-out',
    public: true,
    permissions: { reads: ['CLIENT#', 'KEYS'] },
  },
  {
    method: 'POST',
    path: '/oauth2/token',
    entry: 'oauth2/token',
    public: true,
    throttleShare: signingShare,
    permissions: {
      reads: ['CLIENT#', 'CODE#', 'ENDED#', 'KEYS', 'TOKENS#', 'USER#'],
      writes: ['CODE#', 'TOKENS#'],
      deletes: ['TOKENS#'],
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
    permissions: { reads: ['CLIENT#', 'ENDED#', 'KEYS', 'TOKENS#', 'USER#'], signingKeys: 'sign' },
  },
  ...forMethods(['GET', 'POST'], {
    path: '/oauth2/userinfo',
    entry: 'oauth2/userinfo',
    permissions: { reads: ['ENDED#', 'TOKENS#', 'USER#'] },
  }),
  {
    method: 'POST',
    path: '/oauth2/revoke',
    entry: 'oauth2/revoke',
    public: true,
    // The throttle is low, because anyone can send client secrets, and each check of a secret calls KMS.
    throttleShare: 0.3,
    permissions: { reads: ['CLIENT#', 'TOKENS#'], deletes: ['TOKENS#'], macKey: ['GenerateMac'] },
  },
  ...forMethods(['GET', 'HEAD'], {
    path: '/.well-known/jwks.json',
    entry: 'well-known/jwks',
    public: true,
    permissions: { reads: ['KEYS'] },
  }),
  ...forMethods(['GET', 'HEAD'], {
    path: '/.well-known/openid-configuration',
    entry: 'well-known/openid-configuration',
    public: true,
    permissions: {},
  }),
  // Password login
  {
    method: 'POST',
    path: '/user/login-with-password',
    entry: 'user/login-with-password',
    public: true,
    // A password check takes 30 ms of CPU time, so this route has a lower throttle, and more memory for more
    // CPU.
    throttleShare: 0.3,
    permissions: {
      reads: ['EMAIL#', 'GUESS#'],
      writes: ['GUESS#', 'SIGNIN#'],
      macKey: ['GenerateMac'],
      publish: ['mail.delayed', 'mail.requested'],
      memory: 1024,
    },
  },
  {
    method: 'POST',
    path: '/user/login/2fa',
    entry: 'user/login-2fa',
    public: true,
    throttleShare: signingShare,
    permissions: {
      reads: ['KEYS'],
      writes: ['SIGNIN#', 'TOKENS#'],
      totpKey: ['Decrypt'],
      signingKeys: 'sign',
      publish: ['mail.requested'],
    },
  },
  {
    method: 'POST',
    path: '/user/logout',
    entry: 'user/logout',
    permissions: { reads: ['ENDED#', 'TOKENS#'], deletes: ['TOKENS#'] },
  },
  // Asset wallet
  {
    method: 'GET',
    path: '/account/info',
    entry: 'account/info',
    permissions: { reads: ['ENDED#', 'TOKENS#', 'W#*#asset'] },
  },
  {
    method: 'GET',
    path: '/account/bills',
    entry: 'account/bills',
    permissions: { reads: ['BL#*#asset', 'BX#*#asset', 'ENDED#', 'TOKENS#', 'W#*#asset'] },
  },
  {
    method: 'GET',
    path: '/account/bills/export',
    entry: 'account/export',
    throttleShare: exportShare,
    permissions: billsExport('asset'),
  },
  {
    method: 'GET',
    path: '/account/asset',
    entry: 'account/asset',
    permissions: { reads: ['ENDED#', 'RATES', 'TOKENS#', 'W#*#asset'] },
  },
  // Reward wallet
  {
    method: 'GET',
    path: '/bonus-account/info',
    entry: 'bonus-account/info',
    permissions: { reads: ['ENDED#', 'TOKENS#', 'W#*#reward'] },
  },
  {
    method: 'GET',
    path: '/bonus-account/bills',
    entry: 'bonus-account/bills',
    permissions: { reads: ['BL#*#reward', 'BX#*#reward', 'ENDED#', 'TOKENS#', 'W#*#reward'] },
  },
  {
    method: 'GET',
    path: '/bonus-account/bills/export',
    entry: 'bonus-account/export',
    throttleShare: exportShare,
    permissions: billsExport('reward'),
  },
  {
    method: 'GET',
    path: '/bonus-account/asset',
    entry: 'bonus-account/asset',
    permissions: { reads: ['ENDED#', 'RATES', 'TOKENS#', 'W#*#reward'] },
  },
  // Community members
  {
    method: 'GET',
    path: '/community/members',
    entry: 'community/members',
    permissions: searchPermissions,
  },
  {
    method: 'GET',
    path: '/community/members/export',
    entry: 'community/export',
    throttleShare: exportShare,
    permissions: searchPermissions,
  },
  {
    method: 'POST',
    path: '/community/members/note',
    entry: 'community/note',
    permissions: { reads: ['ENDED#', 'MEMBER#', 'TOKENS#'], writes: ['NOTE#'], deletes: ['NOTE#'] },
  },
  // Rewards dashboard
  {
    method: 'GET',
    path: '/dashboard/overview',
    entry: 'dashboard/overview',
    permissions: { reads: ['EARN#', 'ENDED#', 'TOKENS#', 'W#'] },
  },
  {
    method: 'GET',
    path: '/dashboard/network-rewards',
    entry: 'dashboard/network-rewards',
    permissions: { reads: ['EARN#', 'ENDED#', 'TOKENS#'] },
  },
  {
    method: 'GET',
    path: '/dashboard/earnings',
    entry: 'dashboard/earnings',
    permissions: { reads: ['EARN#', 'ENDED#', 'TOKENS#'] },
  },
  // Withdrawals
  {
    method: 'GET',
    path: '/withdrawal/records',
    entry: 'withdrawal/records',
    permissions: { reads: ['ENDED#', 'TOKENS#', 'W#*#asset', 'WD#', 'WL#'] },
  },
  {
    method: 'GET',
    path: '/withdrawal/get/{id}',
    entry: 'withdrawal/get',
    permissions: { reads: ['ENDED#', 'TOKENS#', 'WD#'] },
  },
  // Deposits
  {
    method: 'GET',
    path: '/address/info',
    entry: 'address/info',
    permissions: {
      reads: ['ADDR#', 'ADDRS#', 'ENDED#', 'POOL#', 'TOKENS#'],
      writes: ['ADDR#', 'ADDRS#'],
      deletes: ['POOL#'],
      publish: ['address.assigned'],
    },
  },
  {
    method: 'GET',
    path: '/deposit/records',
    entry: 'deposit/records',
    permissions: { reads: ['DL#', 'ENDED#', 'TOKENS#'] },
  },
  {
    method: 'GET',
    path: '/deposit/get/{id}',
    entry: 'deposit/get',
    permissions: { reads: ['DEP#', 'ENDED#', 'TOKENS#'] },
  },
]

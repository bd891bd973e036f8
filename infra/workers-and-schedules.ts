import type { Permissions } from './permissions.ts'

/**
 * A function with its own FIFO queue, which handles the messages of a group one after another. A function
 * that sends to the queue lists the worker's name in its permission `queues`.
 */
export interface Worker {
  /** Path of the handler under functions/worker/, without `.ts`; also the name of queue and function. */
  name: string
  permissions: Permissions
}

/** A function that EventBridge runs on a schedule. */
export interface Schedule {
  /** Path of the handler under functions/schedule/, without `.ts`; also the function's name. */
  name: string
  /** EventBridge schedule expression, such as `rate(1 minute)`. */
  rate: string
  /** Set if a run stores only its own progress. The command that stops the service does not wait for it. */
  onlyReads?: true
  permissions: Permissions
}

export const workers: Worker[] = [
  // Community members
  {
    name: 'grow-tree',
    permissions: {
      reads: ['DIR#', 'FIND#', 'MEMBER#', 'TEAM#', 'TREE#'],
      writes: ['DIR#', 'FIND#', 'MEMBER#', 'TEAM#', 'TREE#'],
      deletes: ['FIND#', 'TREE#'],
      // Gives the function a whole processor: creating a segment of a search index takes a second of CPU
      // time, and adding a new member to a large referral tree takes a millisecond or two.
      memory: 1769,
    },
  },
]

export const schedules: Schedule[] = [
  {
    // The shortest interval of EventBridge. A new deployment gets its first signing key within a minute, and
    // tests can rotate keys in minutes.
    name: 'rotate-signing-keys',
    rate: 'rate(1 minute)',
    permissions: { reads: ['KEYS'], writes: ['KEYS'], signingKeys: 'manage' },
  },
  {
    name: 'verify-ledger',
    // A run takes up to fifteen minutes while parts of the daily verification are due. So up to three runs
    // overlap; more would take too many of the ten functions that a new account may run at once.
    rate: 'rate(5 minutes)',
    onlyReads: true,
    permissions: {
      reads: ['BL#', 'BX#', 'VERIFICATION', 'W#'],
      writes: ['VERIFICATION'],
      index: ['WALLETS#'],
      // Gives the function a whole processor, because one run uses it fully.
      memory: 1769,
      timeout: 900,
    },
  },
]

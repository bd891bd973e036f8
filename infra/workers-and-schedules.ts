import type { Permissions } from './permissions.ts'

/**
 * A function that handles the messages of its own FIFO queue, one after another within a message group. Other
 * functions can send to the queue if their permissions name the worker in `queues`.
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
  /** Set if a run stores only its own progress. `maintenance on` does not wait for the end of such a run. */
  onlyReads?: true
  permissions: Permissions
}

export const workers: Worker[] = [
  // Community members
  {
    name: 'grow-tree',
    permissions: {
      reads: ['DIR#', 'MEMBER#', 'TEAM#', 'TREE#'],
      writes: ['DIR#', 'MEMBER#', 'TEAM#', 'TREE#'],
      deletes: ['TREE#'],
      // Gives the function a whole processor. Adding a member to a large referral tree takes a millisecond or
      // two of CPU time for each ancestor.
      memory: 1769,
    },
  },
]

export const schedules: Schedule[] = [
  {
    // The shortest interval that EventBridge allows for a schedule. A new deployment gets its first signing
    // key within a minute, and tests can rotate keys in minutes.
    name: 'rotate-signing-keys',
    rate: 'rate(1 minute)',
    permissions: { reads: ['KEYS'], writes: ['KEYS'], signingKeys: 'manage' },
  },
  {
    name: 'verify-ledger',
    // A run starts every five minutes and takes up to fifteen, so up to three runs overlap. With a shorter
    // interval, the runs would use too many of a new account's ten concurrent executions.
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

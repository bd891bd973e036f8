import { ownSource } from '../shared/env.ts'
import type { Canary, Permissions } from './permissions.ts'

/** The systems around the service that send events, named by the `source` of their events. */
export const outsideSenders = ['business', 'chain', 'rewards', 'operator'] as const

/** A sender of events, named by the `source` of its events: a system around the service, or the service. */
export type Sender = (typeof outsideSenders)[number] | typeof ownSource

/** An event type of the bus. Its handler is functions/intake/DETAIL-TYPE.ts. */
export interface Event {
  detailType: string
  /** The senders from which the bus takes the event: see infra/event-patterns.ts. */
  senders: readonly Sender[]
  /** Marks an event that holds a password digest or a secret: a key of this service encrypts its queues. */
  confidential?: true
  /** Marks an event that is of no use later, such as a mail: it is not archived, so no replay repeats it. */
  momentary?: true
  /** For how many seconds the queue delays the event, given the configuration. Default: not at all. */
  delaySeconds?: (config: { mailDelaySeconds: number; loginTicketTtlSeconds: number }) => number
  canary?: Canary
  permissions: Permissions
}

/** Every event that the bus takes, grouped by subject. */
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
        PutItem: ['EMAIL#', 'MEMBER#', 'SIGNIN#', 'TREE#', 'USER#'],
        UpdateItem: ['EVT#user.registered#'],
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
        GetItem: ['MEMBER#', 'USER#'],
        PutItem: ['EMAIL#', 'TREE#'],
        UpdateItem: ['ENDED#', 'EVT#user.updated#', 'MEMBER#', 'SIGNIN#', 'USER#'],
        DeleteItem: ['EMAIL#'],
        ConditionCheckItem: ['USER#'],
      },
      macKey: ['GenerateMac'],
      totpKey: ['Encrypt'],
      queues: ['grow-tree'],
      memory: 1024,
    },
  },
  {
    detailType: 'mail.requested',
    senders: [ownSource],
    momentary: true,
    canary: true,
    permissions: { table: { UpdateItem: ['EVT#mail.requested#'] }, mail: true },
  },
  {
    detailType: 'mail.delayed',
    senders: [ownSource],
    momentary: true,
    // Leaves at least half of a login ticket's life to use the code, even if that life is short.
    delaySeconds: ({ mailDelaySeconds, loginTicketTtlSeconds }) =>
      Math.min(mailDelaySeconds, Math.floor(loginTicketTtlSeconds / 2)),
    permissions: {
      table: { GetItem: ['SIGNIN#'], UpdateItem: ['EVT#mail.delayed#'] },
      mail: true,
    },
  },
  // Sign-in flow
  {
    detailType: 'client.registered',
    senders: ['business', 'operator'],
    confidential: true,
    permissions: {
      table: { PutItem: ['CLIENT#'], UpdateItem: ['EVT#client.registered#'] },
      macKey: ['GenerateMac'],
    },
  },
  // Wallets
  ...(
    [
      ['wallet.adjusted', 'operator'],
      ['wallet.transferred', 'business'],
    ] as const
  ).map(([detailType, sender]): Event => ({
    detailType,
    senders: [sender],
    permissions: {
      table: {
        GetItem: [`EVT#${detailType}#`, 'USER#', 'W#'],
        PutItem: ['BL#', 'BX#', 'W#'],
        UpdateItem: ['BX#', `EVT#${detailType}#`],
      },
    },
  })),
  {
    detailType: 'withdrawal.updated',
    senders: ['business'],
    canary: true,
    permissions: {
      table: {
        GetItem: ['EVT#withdrawal.updated#', 'USER#', 'W#*#asset', 'WD#'],
        PutItem: ['BL#*#asset', 'BX#*#asset', 'W#*#asset', 'WD#'],
        UpdateItem: ['BX#*#asset', 'EVT#withdrawal.updated#'],
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
        GetItem: ['EARN#', 'EVT#reward.granted#', 'RATES', 'USER#', 'W#*#reward'],
        PutItem: ['BL#*#reward', 'BX#*#reward', 'W#*#reward'],
        UpdateItem: ['BX#*#reward', 'EARN#', 'EVT#reward.granted#'],
      },
    },
  },
  {
    detailType: 'rates.published',
    senders: ['business', 'operator'],
    permissions: { table: { PutItem: ['RATES'], UpdateItem: ['EVT#rates.published#'] } },
  },
  // Community members
  {
    detailType: 'package.purchased',
    senders: ['business'],
    permissions: {
      table: {
        GetItem: ['EVT#package.purchased#', 'MEMBER#', 'USER#', 'W#'],
        PutItem: ['BL#', 'BX#', 'TREE#', 'W#'],
        UpdateItem: ['BX#', 'EVT#package.purchased#', 'MEMBER#'],
      },
      queues: ['grow-tree'],
    },
  },
  // Rewards dashboard
  ...(['device.activated', 'device.deactivated'] as const).map((detailType): Event => ({
    detailType,
    senders: ['business'],
    permissions: {
      table: {
        GetItem: ['DEVICE#'],
        PutItem: ['DEVICE#'],
        UpdateItem: ['EARN#', `EVT#${detailType}#`],
        ConditionCheckItem: ['USER#'],
      },
    },
  })),
  {
    detailType: 'traffic.reported',
    senders: ['business'],
    permissions: {
      table: {
        UpdateItem: ['EARN#', 'EVT#traffic.reported#'],
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
        PutItem: ['ADDR#', 'POOL#'],
        UpdateItem: ['EVT#addresses.provisioned#', 'EVT#addresses.provisioned.chunk#'],
      },
    },
  },
  {
    detailType: 'address.assigned',
    // An operator repeats the assignments of a lost region: see infra/RUNBOOK.md#a-lost-region.
    senders: ['operator', ownSource],
    permissions: {
      table: {
        GetItem: ['ADDR#', 'ADDRS#'],
        PutItem: ['ADDRS#'],
        UpdateItem: ['ADDR#', 'EVT#address.assigned#'],
        DeleteItem: ['POOL#'],
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
        PutItem: ['BL#*#asset', 'BX#*#asset', 'DEP#', 'DL#', 'W#*#asset'],
        UpdateItem: ['BX#*#asset', 'EVT#deposit.updated#'],
      },
    },
  },
]

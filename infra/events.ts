import { ownSource } from '../shared/env.ts'
import { outcomeTypes } from '../shared/events/outcome.ts'
import type { Permissions } from './permissions.ts'

/** The systems around the service that send events, named by the `source` of their events. */
export const outsideSenders = ['business', 'chain', 'rewards', 'operator'] as const

/** A sender of events, named by the `source` of its events: the service itself, or a system around it. */
export type Sender = (typeof outsideSenders)[number] | typeof ownSource

/** An event type of the bus. Its handler is functions/intake/DETAIL-TYPE.ts. */
export interface Event {
  detailType: string
  /** The senders from which the bus accepts the event (infra/event-patterns.ts). */
  senders: readonly Sender[]
  /** Whether the event holds a password digest or a secret. If so, a KMS key encrypts the event's queues. */
  confidential?: true
  /** Marks an event that is of no use later, such as a mail: it is not archived, so no replay repeats it. */
  momentary?: true
  /** For how many seconds the queue delays the event, given the configuration. Default: not at all. */
  delaySeconds?: (config: { mailDelaySeconds: number; loginTicketTtlSeconds: number }) => number
  permissions: Permissions
}

/** Every event that the bus accepts, grouped by subject, without the permission to tell outcomes. */
const rows: Event[] = [
  // Password login
  {
    detailType: 'user.registered',
    senders: ['business', 'operator'],
    confidential: true,
    permissions: {
      reads: ['EVT#user.registered#', 'MEMBER#'],
      writes: ['EMAIL#', 'EVT#user.registered#', 'MEMBER#', 'SIGNIN#', 'TREE#', 'USER#'],
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
      reads: ['EVT#user.updated#', 'MEMBER#', 'USER#'],
      writes: ['EMAIL#', 'ENDED#', 'EVT#user.updated#', 'MEMBER#', 'SIGNIN#', 'TREE#', 'USER#'],
      deletes: ['EMAIL#'],
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
    permissions: { writes: ['EVT#mail.requested#'], mail: true },
  },
  {
    detailType: 'mail.delayed',
    senders: [ownSource],
    momentary: true,
    // The mail waits at most half of the login ticket's lifetime, to leave time to enter the code.
    delaySeconds: ({ mailDelaySeconds, loginTicketTtlSeconds }) =>
      Math.min(mailDelaySeconds, Math.floor(loginTicketTtlSeconds / 2)),
    permissions: { reads: ['SIGNIN#'], writes: ['EVT#mail.delayed#'], mail: true },
  },
  // Sign-in flow
  {
    detailType: 'client.registered',
    senders: ['business', 'operator'],
    confidential: true,
    permissions: { writes: ['CLIENT#', 'EVT#client.registered#'], macKey: ['GenerateMac'] },
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
      reads: [`EVT#${detailType}#`, 'USER#', 'W#'],
      writes: ['BL#', 'BX#', `EVT#${detailType}#`, 'W#'],
    },
  })),
  {
    detailType: 'withdrawal.updated',
    senders: ['business'],
    permissions: {
      reads: ['EVT#withdrawal.updated#', 'USER#', 'W#*#asset', 'WD#'],
      writes: ['BL#*#asset', 'BX#*#asset', 'EVT#withdrawal.updated#', 'W#*#asset', 'WD#', 'WL#'],
    },
  },
  {
    detailType: 'reward.granted',
    senders: ['rewards'],
    permissions: {
      reads: ['EARN#', 'EVT#reward.granted#', 'RATES', 'USER#', 'W#*#reward'],
      writes: ['BL#*#reward', 'BX#*#reward', 'EARN#', 'EVT#reward.granted#', 'W#*#reward'],
    },
  },
  {
    detailType: 'rates.published',
    senders: ['business', 'operator'],
    permissions: { writes: ['EVT#rates.published#', 'RATES'] },
  },
  // Community members
  {
    detailType: 'package.purchased',
    senders: ['business'],
    permissions: {
      reads: ['EVT#package.purchased#', 'MEMBER#', 'USER#', 'W#'],
      writes: ['BL#', 'BX#', 'EVT#package.purchased#', 'MEMBER#', 'TREE#', 'W#'],
      queues: ['grow-tree'],
    },
  },
  // Rewards dashboard
  ...(['device.activated', 'device.deactivated'] as const).map((detailType): Event => ({
    detailType,
    senders: ['business'],
    permissions: { reads: ['DEVICE#', 'USER#'], writes: ['DEVICE#', 'EARN#', `EVT#${detailType}#`] },
  })),
  {
    detailType: 'traffic.reported',
    senders: ['business'],
    permissions: { reads: ['USER#'], writes: ['EARN#', 'EVT#traffic.reported#'] },
  },
  // Deposits
  {
    detailType: 'addresses.provisioned',
    senders: ['business', 'chain', 'operator'],
    permissions: {
      reads: ['ADDR#', 'EVT#addresses.provisioned#'],
      writes: ['ADDR#', 'EVT#addresses.provisioned#', 'EVT#addresses.provisioned.chunk#', 'POOL#'],
      // A batch that loses a race for an address is taken back.
      deletes: ['ADDR#', 'EVT#addresses.provisioned.chunk#', 'POOL#'],
    },
  },
  {
    detailType: 'address.assigned',
    // After the loss of a region, the operator sends the address assignments again
    // (infra/RUNBOOK.md#a-lost-region).
    senders: ['operator', ownSource],
    permissions: {
      reads: ['ADDR#', 'ADDRS#', 'EVT#address.assigned#'],
      writes: ['ADDR#', 'ADDRS#', 'EVT#address.assigned#'],
      deletes: ['POOL#'],
    },
  },
  {
    detailType: 'deposit.updated',
    senders: ['chain'],
    permissions: {
      reads: ['ADDR#', 'DEP#', 'DL#', 'EVT#deposit.updated#', 'USER#', 'W#*#asset'],
      writes: ['BL#*#asset', 'BX#*#asset', 'DEP#', 'DL#', 'EVT#deposit.updated#', 'W#*#asset'],
    },
  },
]

const comesFromOutside = ({ senders }: Pick<Event, 'senders'>): boolean =>
  senders.some((sender) => sender !== ownSource)

/** Every event that the bus accepts, grouped by subject. Outside senders are told the outcomes of theirs. */
export const events: Event[] = rows.map((row) =>
  comesFromOutside(row) ? { ...row, permissions: { ...row.permissions, publish: [...outcomeTypes] } } : row,
)

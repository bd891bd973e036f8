import type { outcomeTypes } from '../shared/events/outcome.ts'
import type { indexPartitions, Partition } from '../shared/db/partitions.ts'

/** The prefix of the partition keys that a permission covers; `*` stands for any text. */
export type LeadingKeys = Partition | `EVT#${string}#` | `${'BL' | 'BX' | 'W'}#*#${'asset' | 'reward'}`

/** What a Lambda function may do; infra/constructs/grant.ts turns it into IAM statements. */
export interface Permissions {
  /** The partitions that the function reads, or that its transactions check without writing them. */
  reads?: readonly LeadingKeys[]
  /** The partitions to which the function puts items, or in which it updates them. */
  writes?: readonly LeadingKeys[]
  deletes?: readonly LeadingKeys[]
  /** The partitions that the function queries in the table's global secondary index. */
  index?: readonly (typeof indexPartitions)[number][]
  /** Allowed KMS actions on the key that computes MACs of passwords, secrets and confidential events. */
  macKey?: 'GenerateMac'[]
  /** Allowed KMS actions on the key that encrypts TOTP secrets. */
  totpKey?: ('Encrypt' | 'Decrypt')[]
  /** Access to the signing keys in KMS. `sign`: sign tokens. `manage`: create, check and delete keys. */
  signingKeys?: 'sign' | 'manage'
  /** Detail-types of events that the function may put on the event bus with the service as their source. */
  publish?: ('address.assigned' | 'mail.delayed' | 'mail.requested' | (typeof outcomeTypes)[number])[]
  /** Allows sending mails with SES. */
  mail?: true
  /** Workers that the function may send messages to. */
  queues?: string[]
  /** Memory in megabytes, which also sets the share of CPU. Default: `defaultMemoryMegabytes`. */
  memory?: number
  /** Timeout of the function in seconds. Default: `defaultTimeoutSeconds`. */
  timeout?: number
}

const puts = ['PutItem', 'UpdateItem']
/** IAM action for condition checks. Whoever may write an item can check conditions on it anyway. */
const checks = ['ConditionCheckItem']

/**
 * A function's permissions on items of the table: one statement for reads, one for writes. AWS does not
 * document whether IAM checks the writes of a transaction one by one or all together. These statements work
 * in both cases, except for the transactions that infra/THREAT-MODEL.md lists.
 */
export function tableStatements({ reads = [], writes = [], deletes = [] }: Permissions) {
  const written = [...new Set([...writes, ...deletes])].sort()
  return [
    { actions: ['GetItem', 'BatchGetItem', 'Query', ...(written.length > 0 ? checks : [])], keys: reads },
    {
      actions: [...(writes.length > 0 ? puts : []), ...(deletes.length > 0 ? ['DeleteItem'] : []), ...checks],
      keys: written,
    },
  ].filter(({ keys }) => keys.length > 0)
}

export const defaultMemoryMegabytes = 256

/** Seconds until EventBridge or Lambda drops an undelivered scheduled call. The next call replaces it. */
export const maxScheduleAgeSeconds = 60

export const defaultTimeoutSeconds = { endpoint: 10, event: 30, worker: 30, schedule: 60 } as const

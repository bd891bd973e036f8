import type { indexPartitions, Partition } from '../shared/db/partitions.ts'

export type TableAction =
  'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheckItem'

/** A partition, or a part of one: the records of one detail-type, or the wallets or bills of one kind. */
export type LeadingKeys = Partition | `EVT#${string}#` | `${'BL' | 'BX' | 'W'}#*#${'asset' | 'reward'}`

/**
 * Everything that a Lambda function is allowed to do. infra/constructs/grant.ts turns it into IAM statements.
 */
export interface Permissions {
  /**
   * The partitions that a function reads and writes, keyed by DynamoDB action. An operation in a transaction
   * needs its own action, for example `PutItem`. There is no `Scan`, which reads every partition.
   */
  table?: Partial<Record<TableAction, readonly LeadingKeys[]>>
  /** The partitions of the table's global secondary index that the function queries. */
  index?: readonly (LeadingKeys | (typeof indexPartitions)[number])[]
  /** Allowed KMS actions on the key that computes MACs of passwords, client secrets and secret events. */
  macKey?: 'GenerateMac'[]
  /** Allowed KMS actions on the key that encrypts TOTP secrets. */
  totpKey?: ('Encrypt' | 'Decrypt')[]
  /** Access to the signing keys in KMS. `sign`: sign tokens. `manage`: create, check and delete keys. */
  signingKeys?: 'sign' | 'manage'
  /** Detail-types of the events that the function may put on the event bus with the service as source. */
  publish?: ('address.assigned' | 'mail.delayed' | 'mail.requested')[]
  /** Allows sending mails with SES. */
  mail?: true
  /**
   * Names of the workers to whose queues the function may send. It finds the queue URLs in `NAME_QUEUE_URL`.
   */
  queues?: string[]
  /**
   * Memory of the function in megabytes; it also sets the share of CPU. Default: `defaultMemoryMegabytes`.
   */
  memory?: number
  /** Timeout of the function in seconds. Default: `defaultTimeoutSeconds`. */
  timeout?: number
}

/**
 * Marks a function whose new version is tried on a tenth of its calls, before any other function of the stack
 * gets its new version. These functions are called often, and together run most of shared/: sign-in, tokens,
 * pages of bills, member lists, and what moves money. At most five in a stack: see infra/DECISIONS.md.
 */
export type Canary = true

/** Memory in megabytes of a function whose permissions do not set it. */
export const defaultMemoryMegabytes = 256

/**
 * Maximum age in seconds of a scheduled call, at EventBridge and again at Lambda, before it is dropped: the
 * next call replaces it, and a stopped schedule must not run later.
 */
export const maxScheduleAgeSeconds = 60

/** Timeout in seconds of a function whose permissions do not set it, keyed by kind of caller. */
export const defaultTimeoutSeconds = { endpoint: 10, event: 30, worker: 30, schedule: 60 } as const

/** Everything that a function is allowed to do. infra/constructs/grant.ts turns it into IAM statements. */
export interface Permissions {
  /** DynamoDB actions on the table. A member of a transaction needs its own action, for example `PutItem`. */
  table?: (
    | 'GetItem'
    | 'BatchGetItem'
    | 'Query'
    | 'PutItem'
    | 'UpdateItem'
    | 'DeleteItem'
    | 'ConditionCheckItem'
    | 'Scan'
  )[]
  /** May query the table's index. */
  index?: true
  /** KMS actions on the key that computes MACs of passwords and of one-time secrets. */
  macKey?: 'GenerateMac'[]
  /** KMS actions on the key that encrypts TOTP secrets. */
  totpKey?: ('Encrypt' | 'Decrypt')[]
  /** `sign`: sign with the service's signing keys. `manage`: create, check, disable and delete them. */
  signingKeys?: 'sign' | 'manage'
  /** May put events on the bus. */
  publish?: true
  /** May send mail. */
  mail?: true
  /**
   * Workers to whose queues the function may send. The queues' URLs are in the environment: `NAME_QUEUE_URL`.
   */
  queues?: string[]
  /** Memory in megabytes, which also sets the share of a CPU. Default: `defaultMemoryMegabytes`. */
  memory?: number
  /** Timeout in seconds. Default: `defaultTimeoutSeconds`. */
  timeout?: number
}

/** Memory of a function whose permissions do not set it. */
export const defaultMemoryMegabytes = 256

/** Timeout of a function whose permissions do not set it, by what calls the function. */
export const defaultTimeoutSeconds = { endpoint: 10, event: 30, worker: 30, schedule: 60 } as const

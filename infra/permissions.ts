/** What a function may do, and no more; infra/constructs/grant.ts turns it into policies. */
export interface Permissions {
  /** DynamoDB actions on the table. Members of transactions need the action of their kind. */
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
  /** Query on the table's index. */
  index?: true
  /** KMS actions on the key that digests passwords and one-time secrets. */
  macKey?: 'GenerateMac'[]
  /** KMS actions on the key that encrypts TOTP secrets. */
  totpKey?: ('Encrypt' | 'Decrypt')[]
  /** `sign` with the service's signing keys, or `manage` their life. */
  signingKeys?: 'sign' | 'manage'
  /** Put events on the bus. */
  publish?: true
  /** Send mail. */
  mail?: true
  /** Send messages to the queues of these workers; the address of each is in the environment as `NAME_QUEUE_URL`. */
  queues?: string[]
  /** Megabytes of memory, and so the share of a CPU; 256 unless the work is heavy. */
  memory?: number
  /** Seconds; 10 for an endpoint, 30 for an event or a schedule, unless said otherwise. */
  timeout?: number
}

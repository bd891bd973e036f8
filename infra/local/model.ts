/**
 * What the local stack serves: the synthesized templates with every intrinsic function resolved. All rooms
 * share it. Field names follow CloudFormation's where there is one.
 */
export interface StackModel {
  region: string
  accountId: string
  functions: FunctionModel[]
  /** Roles that people assume, such as the auditor's. */
  roles: RoleModel[]
  routes: RouteModel[]
  cors: CorsModel | undefined
  tables: TableModel[]
  keys: KeyModel[]
  queues: QueueModel[]
  eventSources: EventSourceModel[]
  buses: { name: string; arn: string }[]
  rules: RuleModel[]
  outputs: Record<string, string>
}

export interface FunctionModel {
  logicalId: string
  name: string
  arn: string
  /** Absolute directory of the bundle. */
  codeDirectory: string
  /** `FILE.EXPORT` inside the bundle, as Lambda spells it. */
  handler: string
  environment: Record<string, string>
  timeoutSeconds: number
  memoryMegabytes: number
  reservedConcurrency: number | undefined
  /** ARN of the execution role, the principal of the function's calls. */
  roleArn: string
  /** Every policy document of the role, inline and attached, resolved. */
  policies: PolicyDocument[]
}

export interface RoleModel {
  name: string
  arn: string
  /** Every policy document of the role, inline and attached, resolved. */
  policies: PolicyDocument[]
}

export interface PolicyDocument {
  Version?: string
  Statement: PolicyStatement[]
}

export interface PolicyStatement {
  Sid?: string
  Effect: 'Allow' | 'Deny'
  Action?: string | string[]
  NotAction?: string | string[]
  Resource?: string | string[]
  NotResource?: string | string[]
  Principal?: unknown
  Condition?: Record<string, Record<string, string | string[]>>
}

export interface RouteModel {
  /** API Gateway's route key: `GET /account/info`, `GET /deposit/get/{id}`, `$default`. */
  routeKey: string
  functionLogicalId: string
  /** Requests a second and burst, where the stage sets them for this route. */
  throttle?: { rate: number; burst: number }
}

/** `AWS::ApiGatewayV2::Api` CorsConfiguration. */
export interface CorsModel {
  allowOrigins: string[]
  allowMethods: string[]
  allowHeaders: string[]
  exposeHeaders: string[]
  maxAgeSeconds: number
  allowCredentials: boolean
}

export interface TableModel {
  name: string
  arn: string
  /** The CreateTable input that DynamoDB Local understands (keys, indexes, billing mode). */
  createTableInput: Record<string, unknown>
  ttlAttribute: string | undefined
}

export interface KeyModel {
  keyId: string
  arn: string
  keySpec: string
  keyUsage: string
  description: string
  keyPolicy: PolicyDocument | undefined
  tags: Record<string, string>
}

export interface QueueModel {
  name: string
  url: string
  arn: string
  fifo: boolean
  contentBasedDeduplication: boolean
  visibilityTimeoutSeconds: number
  delaySeconds: number
  retentionSeconds: number
  redrive: { deadLetterArn: string; maxReceiveCount: number } | undefined
  /** `AWS::SQS::QueuePolicy` documents that name this queue. */
  policies: PolicyDocument[]
}

/** `AWS::Lambda::EventSourceMapping` from a queue to a function. */
export interface EventSourceModel {
  queueArn: string
  functionLogicalId: string
  batchSize: number
  batchingWindowSeconds: number
  maximumConcurrency: number | undefined
  reportBatchItemFailures: boolean
  enabled: boolean
}

/** `AWS::Events::Rule`: by pattern on a bus, or by schedule. */
export interface RuleModel {
  name: string
  arn: string
  busName: string
  enabled: boolean
  pattern?: Record<string, unknown>
  /** `rate(1 hour)` or `cron(...)`, UTC. */
  schedule?: string
  targets: RuleTarget[]
}

export interface RuleTarget {
  id: string
  arn: string
  /** Constant JSON text in place of the event. */
  input?: string
  deadLetterArn?: string
  messageGroupId?: string
}

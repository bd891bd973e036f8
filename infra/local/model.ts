/**
 * The model of what the local stack serves: the synthesized templates with every intrinsic function resolved.
 * All parts of the local stack use it. Fields have CloudFormation's names where they exist.
 */
export interface StackModel {
  region: string
  accountId: string
  functions: FunctionModel[]
  /** IAM roles that people assume, such as the auditor's. */
  roles: RoleModel[]
  routes: RouteModel[]
  /** Id and name of the HTTP API. */
  apiId: string
  apiName: string
  cors: CorsModel | undefined
  tables: TableModel[]
  keys: KeyModel[]
  queues: QueueModel[]
  eventSources: EventSourceModel[]
  buses: BusModel[]
  rules: RuleModel[]
  archives: ArchiveModel[]
  outputs: Record<string, string>
}

export interface FunctionModel {
  name: string
  arn: string
  /** Absolute path of the directory with the function's bundle. */
  codeDirectory: string
  /** Handler in the bundle as `FILE.EXPORT`, in Lambda's notation. */
  handler: string
  environment: Record<string, string>
  timeoutSeconds: number
  memoryMegabytes: number
  /** ARN of the execution role, which grants the function its permissions on AWS. */
  roleArn: string
  roleTags: Record<string, string>
  /** Every policy document of the role, inline and attached, resolved. */
  policies: PolicyDocument[]
}

export interface RoleModel {
  name: string
  arn: string
  tags: Record<string, string>
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
  functionName: string
  /** Throttle of the route, if its stage sets one: requests per second, and burst. */
  throttle?: { rate: number; burst: number }
}

/** CORS configuration of the HTTP API (`AWS::ApiGatewayV2::Api` CorsConfiguration). */
export interface CorsModel {
  allowOrigins: string[]
  allowMethods: string[]
  allowHeaders: string[]
  exposeHeaders: string[]
  maxAgeSeconds: number
}

export interface TableModel {
  name: string
  arn: string
  /** Input of CreateTable for DynamoDB Local: keys, indexes and billing mode. */
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
  visibilityTimeoutSeconds: number
  delaySeconds: number
  retentionSeconds: number
  redrive: { deadLetterArn: string; maxReceiveCount: number } | undefined
  /** Policy documents of the queue (`AWS::SQS::QueuePolicy`). */
  policies: PolicyDocument[]
}

/** An event source from an SQS queue to a function. The function reports which messages failed. */
export interface EventSourceModel {
  queueArn: string
  functionName: string
  batchSize: number
  maximumConcurrency: number
}

/** An event bus with the statements of its policies (`AWS::Events::EventBusPolicy`). */
export interface BusModel {
  name: string
  arn: string
  policy: PolicyDocument
}

/** A rule with an event pattern on a bus, or with a schedule (`AWS::Events::Rule`). */
export interface RuleModel {
  name: string
  arn: string
  busName: string
  enabled: boolean
  pattern?: Record<string, unknown>
  /** Schedule of the rule, such as `rate(1 hour)`. */
  schedule?: string
  targets: RuleTarget[]
}

/** An archive: it keeps the events of a bus that match its pattern (`AWS::Events::Archive`). */
export interface ArchiveModel {
  name: string
  arn: string
  busName: string
  pattern: Record<string, unknown>
}

export interface RuleTarget {
  id: string
  arn: string
  /** Constant JSON text that the target gets instead of the event. */
  input?: string
  deadLetterArn?: string
}

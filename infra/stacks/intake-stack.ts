import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { EventBus, type EventPattern, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { EventBus as EventBusTarget, LambdaFunction, SqsQueue } from 'aws-cdk-lib/aws-events-targets'
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam'
import type { Key } from 'aws-cdk-lib/aws-kms'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import {
  DeduplicationScope,
  FifoThroughputLimit,
  Queue,
  QueueEncryption,
  type QueueProps,
} from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import type { ServiceResources } from '../constructs/grant.ts'
import { addAuditorRole } from '../constructs/auditor-role.ts'
import { ServiceFunction } from '../constructs/service-function.ts'
import {
  listenerRuleName,
  outcomesPattern,
  takenPattern,
  unmatchedQueueName,
  unmatchedRuleName,
  untakenPattern,
} from '../event-patterns.ts'
import { events } from '../events.ts'
import { eventName } from '../names.ts'
import { defaultTimeoutSeconds, maxScheduleAgeSeconds } from '../permissions.ts'
import { schedules, workers } from '../workers-and-schedules.ts'
import type { DataStack } from './data-stack.ts'

interface IntakeStackProps extends StackProps {
  config: Config
  data: DataStack
}

const queueDefaults = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} satisfies QueueProps

/** The properties of a queue that is encrypted by the given KMS key or, without one, by SQS's own key. */
const encryptedBy = (encryptionMasterKey: Key | undefined): QueueProps =>
  encryptionMasterKey === undefined
    ? queueDefaults
    : { ...queueDefaults, encryption: QueueEncryption.KMS, encryptionMasterKey }

/** Visibility timeout of a queue: six times the timeout of the function that it feeds, as AWS recommends. */
const visibilityTimeout = (functionTimeoutSeconds: number): Duration =>
  Duration.seconds(6 * functionTimeoutSeconds)

/**
 * The resources that change state without a request: the workers, the schedules, and for each event a rule of
 * the bus, a queue, a dead-letter queue and a function.
 */
export class IntakeStack extends Stack {
  readonly resources: ServiceResources
  /** Names of all functions and dead-letter queues of the stack, without the stage's prefix. */
  readonly functionNames: string[] = []
  readonly deadLetterQueueNames: string[] = []
  /** Functions that run on a schedule, by name. */
  readonly scheduled: Record<string, ServiceFunction['function']> = {}
  readonly auditor: Role

  constructor(scope: Construct, id: string, props: IntakeStackProps) {
    super(scope, id, props)
    const { config, data } = props
    const { bus } = data
    this.resources = {
      table: data.table,
      bus,
      macKeys: data.macKeys,
      totpKey: data.totpKey,
      evidenceKey: data.evidenceKey,
      signingKeySpec: config.signingKeySpec,
      signingKeyTag: config.serviceName,
      mailFrom: config.mailFrom,
      queues: new Map(),
      environment: {
        TABLE_NAME: data.table.tableName,
        EVENT_BUS_NAME: bus.eventBusName,
        MAC_KEY_IDS: data.macKeys.map(({ keyArn }) => keyArn).join(),
        TOTP_KEY_ID: data.totpKey.keyArn,
        SIGNING_KEY_TAG: config.serviceName,
        METRICS_NAMESPACE: config.serviceName,
      },
    }
    for (const worker of workers) this.addWorker(config, worker)
    for (const event of events) this.addEvent(config, event, data.eventKey)
    const unmatched = this.addCatchAll(config, data.eventKey)
    for (const listener of Object.entries(config.listeners)) this.addListener(config, listener, unmatched)
    for (const schedule of schedules) this.addSchedule(config, schedule)
    this.auditor = addAuditorRole(this, config, data)
    new CfnOutput(this, 'AuditorRoleArn', { value: this.auditor.roleArn })
    new CfnOutput(this, 'EventBusName', { value: bus.eventBusName })
  }

  private addEvent(config: Config, event: (typeof events)[number], eventKey: Key | undefined): void {
    const { detailType, delaySeconds, permissions } = event
    const name = eventName(detailType)
    // Both queues use the same key, because SQS does not encrypt a message again when the message moves from
    // one queue to the other (SQS: Encryption at rest).
    const key = event.confidential ? eventKey : undefined
    const deadLetters = new Queue(this, `${name}-dead-letters`, {
      ...encryptedBy(key),
      queueName: `${config.namePrefix}${name}-dead-letters`,
    })
    const queue = new Queue(this, `${name}-queue`, {
      ...encryptedBy(key),
      queueName: config.namePrefix + name,
      // EventBridge cannot delay an event. So the queue delays each message by this time.
      ...(delaySeconds && { deliveryDelay: Duration.seconds(delaySeconds(config)) }),
      visibilityTimeout: visibilityTimeout(permissions.timeout ?? defaultTimeoutSeconds.event),
      // A message gets here only if it crashes the function: the function itself gives up other events
      // earlier.
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 60 },
    })
    new Rule(this, `${name}-rule`, {
      ruleName: config.namePrefix + name,
      eventBus: this.resources.bus,
      eventPattern: takenPattern(config.stage, event),
      // An event that the bus cannot deliver goes to the same dead-letter queue as a rejected event.
      targets: [new SqsQueue(queue, { deadLetterQueue: deadLetters })],
    })
    const { function: fn } = new ServiceFunction(this, `intake-${name}`, {
      config,
      entry: `intake/${detailType}`,
      name: `intake-${name}`,
      permissions,
      resources: this.resources,
      defaultTimeoutSeconds: defaultTimeoutSeconds.event,
      environment: { QUEUE_URL: queue.queueUrl, DEAD_LETTER_QUEUE_URL: deadLetters.queueUrl },
    })
    this.functionNames.push(`intake-${name}`)
    this.deadLetterQueueNames.push(`${name}-dead-letters`)
    // Grants only sqs:SendMessage. CDK's grantSendMessages would also allow reading the queue's attributes.
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [deadLetters.queueArn] }),
    )
    if (key)
      fn.addToRolePolicy(
        new PolicyStatement({ actions: ['kms:GenerateDataKey', 'kms:Decrypt'], resources: [key.keyArn] }),
      )
    // The event source also grants sqs:ChangeMessageVisibility, with which the function delays a retry.
    fn.addEventSource(
      new SqsEventSource(queue, { batchSize: 10, reportBatchItemFailures: true, maxConcurrency: 10 }),
    )
  }

  /** Keeps the events that no rule matches, so that an event with a misspelled type is not lost silently. */
  private addCatchAll(config: Config, key: Key | undefined): Queue {
    const queue = new Queue(this, unmatchedQueueName, {
      ...encryptedBy(key),
      queueName: config.namePrefix + unmatchedQueueName,
    })
    new Rule(this, 'unmatched-rule', {
      ruleName: config.namePrefix + unmatchedRuleName,
      eventBus: this.resources.bus,
      eventPattern: untakenPattern(config.stage, events) as EventPattern,
      targets: [new SqsQueue(queue)],
    })
    return queue
  }

  /** Passes the outcomes of events on to a bus of somebody else. What it does not take in a day is kept. */
  private addListener(config: Config, [name, arn]: [string, string], deadLetterQueue: Queue): void {
    const id = listenerRuleName(name)
    const bus = EventBus.fromEventBusArn(this, `${id}-bus`, arn)
    new Rule(this, `${id}-rule`, {
      ruleName: config.namePrefix + id,
      eventBus: this.resources.bus,
      eventPattern: outcomesPattern,
      targets: [new EventBusTarget(bus, { deadLetterQueue })],
    })
  }

  private addWorker(config: Config, { name, permissions }: (typeof workers)[number]): void {
    const deadLetters = new Queue(this, `${name}-dead-letters`, {
      ...queueDefaults,
      queueName: `${config.namePrefix}${name}-dead-letters.fifo`,
      fifo: true,
    })
    const queue = new Queue(this, `${name}-queue`, {
      ...queueDefaults,
      queueName: `${config.namePrefix}${name}.fifo`,
      fifo: true,
      // Gives each message group its own throughput limit, because groups are independent (SQS high
      // throughput for FIFO queues).
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      visibilityTimeout: visibilityTimeout(permissions.timeout ?? defaultTimeoutSeconds.worker),
      // Each call of the worker counts as a receive. SQS's maximum of 1,000 receives suffices for seven hours
      // of work, or for two days of failed calls with pauses of three minutes.
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 1_000 },
    })
    this.resources.queues.set(name, queue)
    const { function: fn } = new ServiceFunction(this, `worker-${name}`, {
      config,
      entry: `worker/${name}`,
      name: `worker-${name}`,
      permissions,
      resources: this.resources,
      defaultTimeoutSeconds: defaultTimeoutSeconds.worker,
      environment: { QUEUE_URL: queue.queueUrl },
    })
    this.functionNames.push(`worker-${name}`)
    this.deadLetterQueueNames.push(`${name}-dead-letters.fifo`)
    // Works on at most ten referral trees (message groups) at a time. A new table can write 4,000 units per
    // second, and some of them must be left for requests.
    fn.addEventSource(
      new SqsEventSource(queue, { batchSize: 10, reportBatchItemFailures: true, maxConcurrency: 10 }),
    )
  }

  private addSchedule(config: Config, { name, rate, permissions }: (typeof schedules)[number]): Rule {
    const { function: fn } = new ServiceFunction(this, name, {
      config,
      entry: `schedule/${name}`,
      name,
      permissions,
      resources: this.resources,
      defaultTimeoutSeconds: defaultTimeoutSeconds.schedule,
    })
    this.scheduled[name] = fn
    const maxEventAge = Duration.seconds(maxScheduleAgeSeconds)
    fn.configureAsyncInvoke({ retryAttempts: 0, maxEventAge })
    this.functionNames.push(name)
    return new Rule(this, `${name}-schedule`, {
      ruleName: config.namePrefix + name,
      schedule: Schedule.expression(rate),
      targets: [new LambdaFunction(fn, { event: RuleTargetInput.fromObject({}), maxEventAge })],
    })
  }
}

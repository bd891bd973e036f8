import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { EventBus, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction, SqsQueue } from 'aws-cdk-lib/aws-events-targets'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Function } from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import type { ServiceResources } from '../constructs/grant.ts'
import { AuditorRole } from '../constructs/auditor-role.ts'
import { Deployer } from '../constructs/deployer.ts'
import { ServiceFunction } from '../constructs/service-function.ts'
import { events, schedules, workers } from '../routes.ts'
import type { DataStack } from './data-stack.ts'

interface IntakeStackProps extends StackProps {
  config: Config
  data: DataStack
}

/** How state gets in: the bus, a queue with a dead-letter queue and a function for each kind of event, and the clock. */
export class IntakeStack extends Stack {
  readonly bus: EventBus
  readonly backing: ServiceResources
  readonly functions: Function[] = []
  readonly deadLetterQueues: Queue[] = []
  private readonly deployer: Deployer | undefined

  constructor(scope: Construct, id: string, props: IntakeStackProps) {
    super(scope, id, props)
    const { config, data } = props
    this.deployer = config.gradualDeployment ? new Deployer(this, 'Deployer', config) : undefined
    this.bus = new EventBus(this, 'Bus', { eventBusName: `${config.namePrefix}account-service` })
    this.backing = {
      table: data.table,
      bus: this.bus,
      macKey: data.macKey,
      totpKey: data.totpKey,
      signingKeyTag: `${config.namePrefix}account-service`,
      mailFrom: config.mailFrom,
      queues: new Map(),
      environment: {
        TABLE_NAME: data.table.tableName,
        EVENT_BUS_NAME: this.bus.eventBusName,
        MAC_KEY_ID: data.macKey.keyArn,
        TOTP_KEY_ID: data.totpKey.keyArn,
        SIGNING_KEY_TAG: `${config.namePrefix}account-service`,
        METRICS_NAMESPACE: `${config.namePrefix}account-service`,
      },
    }
    for (const worker of workers) this.addWorker(config, worker)
    for (const event of events) this.addEvent(config, event)
    for (const schedule of schedules) this.addSchedule(config, schedule)
    const { role } = new AuditorRole(this, 'Auditor', { config, table: data.table })
    new CfnOutput(this, 'AuditorRoleArn', { value: role.roleArn })
    new CfnOutput(this, 'EventBusName', { value: this.bus.eventBusName })
  }

  private addEvent(config: Config, { detailType, permissions }: (typeof events)[number]): void {
    const name = detailType.replaceAll('.', '-')
    const deadLetters = new Queue(this, `${name}-dead-letters`, {
      queueName: `${config.namePrefix}${name}-dead-letters`,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    const queue = new Queue(this, `${name}-queue`, {
      queueName: config.namePrefix + name,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      // Six times the function's timeout, as AWS advises for queues that feed functions.
      visibilityTimeout: Duration.seconds(6 * (permissions.timeout ?? 30)),
      // The function gives up before this; the queue's own limit catches what dies without saying so.
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 25 },
    })
    new Rule(this, `${name}-rule`, {
      ruleName: config.namePrefix + name,
      eventBus: this.bus,
      eventPattern: { detailType: [detailType] },
      // What the bus cannot deliver ends beside what the function refuses.
      targets: [new SqsQueue(queue, { deadLetterQueue: deadLetters })],
    })
    const { function: fn, target } = new ServiceFunction(this, `intake-${name}`, {
      config,
      entry: `intake/${detailType}`,
      name: `intake-${name}`,
      permissions,
      backing: this.backing,
      timeout: Duration.seconds(30),
      environment: { QUEUE_URL: queue.queueUrl, DEAD_LETTER_QUEUE_URL: deadLetters.queueUrl },
      deployer: this.deployer,
    })
    this.functions.push(fn)
    this.deadLetterQueues.push(deadLetters)
    // No more than it does: grantSendMessages would let it look at the queue, too.
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [deadLetters.queueArn] }),
    )
    // Consuming includes changing a message's visibility, which is how a retry is put off.
    target.addEventSource(
      new SqsEventSource(queue, { batchSize: 10, reportBatchItemFailures: true, maxConcurrency: 10 }),
    )
  }

  private addWorker(config: Config, { name, permissions }: (typeof workers)[number]): void {
    const deadLetters = new Queue(this, `${name}-dead-letters`, {
      queueName: `${config.namePrefix}${name}-dead-letters.fifo`,
      fifo: true,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    const queue = new Queue(this, `${name}-queue`, {
      queueName: `${config.namePrefix}${name}.fifo`,
      fifo: true,
      // Groups share nothing, so each may go as fast as it can.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      visibilityTimeout: Duration.seconds(6 * (permissions.timeout ?? 30)),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 10 },
    })
    this.backing.queues.set(name, queue)
    const { function: fn, target } = new ServiceFunction(this, `worker-${name}`, {
      config,
      entry: `worker/${name}`,
      name: `worker-${name}`,
      permissions,
      backing: this.backing,
      timeout: Duration.seconds(30),
      deployer: this.deployer,
    })
    this.functions.push(fn)
    this.deadLetterQueues.push(deadLetters)
    target.addEventSource(new SqsEventSource(queue, { batchSize: 10, reportBatchItemFailures: true }))
  }

  private addSchedule(config: Config, { name, rate, permissions }: (typeof schedules)[number]): void {
    // Without a deployer: a run a minute is too few to judge a version by, and the next one makes up for a failed one.
    const { function: fn } = new ServiceFunction(this, name, {
      config,
      entry: `schedule/${name}`,
      name,
      permissions,
      backing: this.backing,
      timeout: Duration.seconds(60),
    })
    this.functions.push(fn)
    new Rule(this, `${name}-schedule`, {
      ruleName: config.namePrefix + name,
      schedule: Schedule.expression(rate),
      targets: [new LambdaFunction(fn, { event: RuleTargetInput.fromObject({}) })],
    })
  }
}

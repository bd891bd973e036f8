import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { type Environment, queueUrlName } from '../../shared/env.ts'
import { environmentName, Settings } from '../../shared/settings.ts'
import { bundleDirectory } from '../bundle-functions.ts'
import type { Config } from '../config.ts'
import type { Permissions } from '../permissions.ts'
import type { Deployer } from './deployer.ts'
import { GradualDeployment } from './gradual-deployment.ts'
import { type ServiceResources, grant } from './grant.ts'

interface ServiceFunctionProps {
  config: Config
  /** Path under functions/, without `.ts`. */
  entry: string
  /** Name without the stage's prefix. */
  name: string
  permissions: Permissions
  backing: ServiceResources
  timeout: Duration
  environment?: Environment
  /** Moves calls from version to version; without it a new version gets all of them at once. */
  deployer?: Deployer | undefined
}

/** A Lambda function of the service. The only place where one is configured. */
export class ServiceFunction extends Construct {
  readonly function: lambda.Function
  /** What calls go to: the function, or the alias that moves from version to version. */
  readonly target: lambda.IFunction

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id)
    const { config, permissions, backing } = props
    const functionName = config.namePrefix + props.name
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/${Stack.of(this).stackName}/${functionName}`,
      retention: config.logRetentionDays,
      removalPolicy: config.protectData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    })
    // A role of its own that may write to its own log group only; the managed policy would reach every group.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    role.addToPolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    )
    this.function = new lambda.Function(this, 'Function', {
      functionName,
      role,
      logGroup,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: lambda.Code.fromAsset(bundleDirectory(props.entry)),
      handler: 'index.handler',
      memorySize: permissions.memory ?? 256,
      timeout: permissions.timeout === undefined ? props.timeout : Duration.seconds(permissions.timeout),
      environment: {
        ...settingsEnvironment(config),
        ...backing.environment,
        ...queueEnvironment(permissions, backing),
        ...props.environment,
      },
      tracing: config.tracing ? lambda.Tracing.ACTIVE : lambda.Tracing.DISABLED,
      loggingFormat: lambda.LoggingFormat.JSON,
      // One line a request is ours; Lambda's own three would cost more than the request.
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      // An operator may go back to one; a version that came with a failed deployment goes with it.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    })
    grant(this.function, permissions, backing)
    const gradual =
      props.deployer &&
      new GradualDeployment(this, 'Deployment', {
        config,
        function: this.function,
        functionName,
        deployer: props.deployer,
      })
    this.target = gradual?.target ?? this.function
  }
}

const settingsEnvironment = (config: Config): Record<string, string> =>
  Object.fromEntries(
    Object.keys(Settings.entries).map((name) => [
      environmentName(name),
      String(config[name as keyof Settings]),
    ]),
  )

/** The address of each queue that a function sends to: `grow-tree` → `GROW_TREE_QUEUE_URL`. */
const queueEnvironment = ({ queues = [] }: Permissions, backing: ServiceResources): Record<string, string> =>
  Object.fromEntries(queues.map((name) => [queueUrlName(name), backing.queues.get(name)?.queueUrl ?? '']))

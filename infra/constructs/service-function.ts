import { Duration, Stack } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { type Environment, queueUrlName } from '../../shared/env.ts'
import { environmentName, Settings } from '../../shared/settings.ts'
import { bundleDirectory } from '../bundle/functions.ts'
import type { Config } from '../config.ts'
import { defaultMemoryMegabytes, type Permissions } from '../permissions.ts'
import { rotationRoleName, signingKeyPolicy } from '../signing-key-policy.ts'
import { type ServiceResources, grant } from './grant.ts'
import { addLogGroup, writeLogs } from './log-group.ts'

interface ServiceFunctionProps {
  config: Config
  /** Path of the handler's source under functions/, without `.ts`. */
  entry: string
  /** Name of the function, without the stage's prefix. */
  name: string
  permissions: Permissions
  resources: ServiceResources
  /** Timeout in seconds if `permissions` has no `timeout`. */
  defaultTimeoutSeconds: number
  environment?: Environment
}

/** A Lambda function of the service, with its runtime, role, logs and limits. */
export class ServiceFunction extends Construct {
  readonly function: lambda.Function

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id)
    const { config, permissions, resources } = props
    const functionName = config.namePrefix + props.name
    const logGroup = addLogGroup(this, 'Logs', config, `/${Stack.of(this).stackName}/${functionName}`)
    const rotates = permissions.signingKeys === 'manage'
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      ...(rotates && { roleName: rotationRoleName(config.stage, Stack.of(this).region) }),
    })
    role.addToPolicy(writeLogs(logGroup))
    this.function = new lambda.Function(this, 'Function', {
      functionName,
      role,
      logGroup,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: lambda.Code.fromAsset(bundleDirectory(props.entry)),
      handler: 'index.handler',
      memorySize: permissions.memory ?? defaultMemoryMegabytes,
      timeout: Duration.seconds(permissions.timeout ?? props.defaultTimeoutSeconds),
      environment: {
        ...settingsEnvironment(config),
        ...resources.environment,
        ...queueEnvironment(permissions, resources),
        ...props.environment,
        ...(rotates && {
          SIGNING_KEY_POLICY: JSON.stringify(signingKeyPolicy(Stack.of(this), config)),
          EVIDENCE_KEY_ID: resources.evidenceKey.keyArn,
        }),
      },
      loggingFormat: lambda.LoggingFormat.JSON,
      // Suppresses Lambda's own three log lines per call, which would cost more than the call. Functions log
      // one line per request themselves.
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
    })
    grant(this.function, permissions, resources)
  }
}

const settingsEnvironment = (config: Config): Record<string, string> =>
  Object.fromEntries(
    Object.keys(Settings.entries).map((name) => [
      environmentName(name),
      String(config[name as keyof Settings]),
    ]),
  )

/** Environment variables for the queues to which a function sends, such as `GROW_TREE_QUEUE_URL`. */
const queueEnvironment = (
  { queues = [] }: Permissions,
  resources: ServiceResources,
): Record<string, string> =>
  Object.fromEntries(queues.map((name) => [queueUrlName(name), resources.queues.get(name)?.queueUrl ?? '']))

import { emptyAwsFiles } from '../../ops/forget-aws-settings.ts'
import type { FunctionModel } from '../model.ts'

/**
 * Composes all environment variables of a function: those in the template and those that Lambda sets
 * (developer guide, "Defined runtime environment variables"). Takes none from the host process.
 */
export function composeEnvironment(
  model: FunctionModel,
  region: string,
  endpointUrl: string,
  credentials: { accessKeyId: string; secretAccessKey: string },
): Record<string, string> {
  return {
    ...model.environment,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: 'local',
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ENDPOINT_URL: endpointUrl,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: model.name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(model.memoryMegabytes),
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${model.name}`,
    LAMBDA_TASK_ROOT: model.codeDirectory,
    LAMBDA_RUNTIME_DIR: '/var/runtime',
    LANG: 'en_US.UTF-8',
    PATH: '/var/lang/bin:/usr/local/bin:/usr/bin:/bin',
    TZ: 'UTC',
    _HANDLER: model.handler,
    // Lambda has no such files. The SDK would find those of the user who runs the local stack.
    ...emptyAwsFiles,
  }
}

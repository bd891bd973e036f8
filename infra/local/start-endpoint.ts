import { type AwsEndpoint, type AwsEndpointOptions, startAwsEndpoint } from './aws/server.ts'
import { StartupError } from './startup-error.ts'

/** Starts the AWS endpoint; a port that somebody took in the meantime is a `StartupError`. */
export async function startEndpoint(options: AwsEndpointOptions): Promise<AwsEndpoint> {
  try {
    return await startAwsEndpoint(options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new StartupError(
      `port ${options.port} is taken: stop what uses it, or choose another with --aws-port PORT`,
    )
  }
}

import { requireEnv } from '../env.ts'

/**
 * The options of every AWS client of a function. Credentials and region come from environment variables that
 * Lambda sets. The SDK's default credential chain is not bundled, because loading its code would slow down
 * every cold start. If `AWS_ENDPOINT_URL` is set, the clients call that endpoint.
 */
export const clientOptions = () => {
  const endpoint = process.env['AWS_ENDPOINT_URL']
  return {
    region: requireEnv('AWS_REGION'),
    credentials: async () => ({
      accessKeyId: requireEnv('AWS_ACCESS_KEY_ID'),
      secretAccessKey: requireEnv('AWS_SECRET_ACCESS_KEY'),
      ...(process.env['AWS_SESSION_TOKEN'] ? { sessionToken: process.env['AWS_SESSION_TOKEN'] } : {}),
    }),
    ...(endpoint ? { endpoint } : {}),
    // Four attempts of two seconds fit into the shortest function timeout. If AWS throttles three in ten
    // attempts, fewer than one call in a hundred fails. Without throwOnRequestTimeout, the SDK would only log
    // a warning at a timeout.
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
    maxAttempts: 4,
  }
}

import { requireEnv } from '../env.ts'

/**
 * The options of every AWS client of a function. Credentials and region come from the environment, where
 * Lambda puts them: the default credential chain also searches files and metadata services, which would slow
 * down every cold start. `AWS_ENDPOINT_URL` redirects the clients, as it does for every AWS SDK.
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
    // attempts, fewer than one call in a hundred fails. With three attempts, more calls would fail. Without
    // throwOnRequestTimeout, the SDK would only log a warning at a timeout.
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
    maxAttempts: 4,
  }
}

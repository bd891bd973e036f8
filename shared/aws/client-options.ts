import { requireEnv } from '../env.ts'

/**
 * What every AWS client of a function is made with. Credentials and region come from the environment, where Lambda puts
 * them; the default chain would look through files and metadata services and cost its share of every cold start.
 * `AWS_ENDPOINT_URL` points the clients elsewhere, as it does for every AWS SDK.
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
    // A request that hangs must leave time for a retry inside the shortest function timeout. Unless told to throw, the
    // handler only warns.
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
    maxAttempts: 3,
  }
}

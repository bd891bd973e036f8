/**
 * The packages that the service is compared with, in exact versions. They are installed for a run into a
 * temporary directory, because nothing else of this project needs them.
 */
export const packages = {
  express: '5.3.0',
  '@codegenie/serverless-express': '5.0.0',
  hono: '4.13.19',
  'oidc-provider': '9.13.3',
  'better-auth': '1.7.25',
  pg: '8.23.1',
  autocannon: '9.0.0',
} as const

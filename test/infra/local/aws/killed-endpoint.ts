import { startAwsEndpoint } from '../../../../infra/local/aws/server.ts'
import { persistentStack } from './persistent-stack.ts'

/**
 * Starts an AWS endpoint with its data in the given directory, and prints its address. Tests run this file as
 * a process and kill it.
 */
const endpoint = await startAwsEndpoint({
  port: 0,
  model: persistentStack,
  dynamodbEndpoint: 'http://127.0.0.1:1',
  dataDirectory: process.argv[2],
  invoke: () => new Promise(() => undefined),
})
endpoint.startDelivery()
console.log(endpoint.url)

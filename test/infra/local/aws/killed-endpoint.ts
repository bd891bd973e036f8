import { startAwsEndpoint } from '../../../../infra/local/aws/server.ts'
import { persistentStack } from './persistent-stack.ts'

/** A process of its own, to be killed: an endpoint on the directory given, whose address it prints. */
const endpoint = await startAwsEndpoint({
  port: 0,
  model: persistentStack,
  dynamodbEndpoint: 'http://127.0.0.1:1',
  dataDirectory: process.argv[2],
  invoke: () => new Promise(() => undefined),
})
endpoint.startDelivery()
console.log(endpoint.url)

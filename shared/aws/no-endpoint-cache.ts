/**
 * Stands in for `@aws-sdk/endpoint-cache` inside a bundle. DynamoDB's client makes one for endpoint discovery, which nobody
 * switches on, and with it comes a library of data structures.
 */
export class EndpointCache {
  getEndpoint(): never {
    throw new Error('endpoint discovery is on: bundle @aws-sdk/endpoint-cache for it')
  }
}

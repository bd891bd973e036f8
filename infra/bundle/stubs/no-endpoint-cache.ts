/**
 * Replaces `@aws-sdk/endpoint-cache` in a bundle. The DynamoDB client loads it, with a library of data
 * structures, for endpoint discovery, which is switched off.
 */
export class EndpointCache {
  getEndpoint(): never {
    throw new Error('endpoint discovery is on: bundle @aws-sdk/endpoint-cache for it')
  }
}

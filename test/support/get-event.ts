import type { APIGatewayProxyEventV2 } from 'aws-lambda'

/** Builds the event of a GET request as API Gateway sends it to a function, payload version 2.0. */
export const getEvent = (rawPath: string, headers: Record<string, string> = {}): APIGatewayProxyEventV2 => ({
  version: '2.0',
  routeKey: `GET ${rawPath}`,
  rawPath,
  rawQueryString: '',
  headers,
  isBase64Encoded: false,
  requestContext: {
    accountId: '000000000000',
    apiId: 'test',
    domainName: '127.0.0.1',
    domainPrefix: '',
    requestId: 'request',
    routeKey: `GET ${rawPath}`,
    stage: '$default',
    time: '01/Jan/2026:00:00:00 +0000',
    timeEpoch: 0,
    http: { method: 'GET', path: rawPath, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
  },
})

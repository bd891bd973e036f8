import { randomUUID } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** An AWS error: `code` is the exception's name, `status` the HTTP status. */
export class AwsError extends Error {
  readonly code: string
  readonly status: number
  /** The error's code in SQS's older protocol, sent in `x-amzn-query-error`. SQS clients prefer this code. */
  readonly queryCode: string | undefined
  /** Members of the answer's body besides the code and the message, such as `CancellationReasons`. */
  readonly members: Record<string, unknown>

  constructor(
    code: string,
    message: string,
    options: { status?: number; queryCode?: string; members?: Record<string, unknown> } = {},
  ) {
    super(message)
    this.name = code
    this.code = code
    this.status = options.status ?? 400
    this.queryCode = options.queryCode
    this.members = options.members ?? {}
  }
}

/** An AWS request whose body has been read. */
export interface AwsRequest extends Pick<IncomingMessage, 'headers'> {
  method: string
  /** URL path without the query string, still percent-encoded; it can be decoded. */
  path: string
  /** Service and operation in the header X-Amz-Target; empty if the request has none. */
  target: { service: string; operation: string }
  body: Buffer
}

/** A complete HTTP answer. */
export interface Answer {
  status: number
  headers: OutgoingHttpHeaders
  body: string | Buffer
}

// Maximum body size. The largest request is DynamoDB's BatchWriteItem: 16 MiB, plus the JSON around it.
const maxBodyBytes = 24 * 1024 * 1024

/**
 * Reads an AWS request. Throws MalformedHttpRequestException for a path that cannot be percent-decoded, and
 * RequestEntityTooLargeException for a body larger than any service accepts.
 */
export async function readRequest(message: IncomingMessage): Promise<AwsRequest> {
  const { method = '', url = '/', headers } = message
  const [service = '', operation = ''] = String(headers['x-amz-target'] ?? '').split('.')
  const path = url.split('?', 1)[0] ?? '/'
  requireDecodable(path)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBodyBytes)
      throw new AwsError('RequestEntityTooLargeException', 'Request size exceeded the limit', { status: 413 })
    chunks.push(chunk)
  }
  return { method, path, headers, target: { service, operation }, body: Buffer.concat(chunks) }
}

function requireDecodable(path: string): void {
  try {
    decodeURIComponent(path)
  } catch {
    throw new AwsError('MalformedHttpRequestException', 'The path cannot be percent-decoded.')
  }
}

/** Parses JSON. The error (with `errorCode`) never quotes the body, which may contain secrets. */
export function parseJson(body: Buffer, errorCode = 'SerializationException'): unknown {
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString())
  } catch {
    throw new AwsError(errorCode, 'The request body is not JSON.')
  }
}

/** Creates a JSON answer; an operation without output has an empty body. */
export function jsonAnswer(contentType: string, output: unknown): Answer {
  const body = output === undefined ? '' : JSON.stringify(output)
  return { status: 200, headers: { 'content-type': contentType }, body }
}

/**
 * Creates an error answer. The error code is in the body for clients of JSON protocols, and in a header for
 * clients of REST protocols.
 */
export function errorAnswer(contentType: string, error: AwsError): Answer {
  const { status, code, queryCode, message, members } = error
  return {
    status,
    headers: {
      'content-type': contentType,
      'x-amzn-errortype': code,
      ...(queryCode !== undefined && { 'x-amzn-query-error': `${queryCode};Sender` }),
    },
    // Depending on the service, a client reads `message` or `Message`, so the body has both.
    body: JSON.stringify({ __type: code, message, Message: message, ...members }),
  }
}

/** Sends an answer, and adds a request id if it has none. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  const length = { 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { 'x-amzn-requestid': randomUUID(), ...length, ...headers }).end(body)
}

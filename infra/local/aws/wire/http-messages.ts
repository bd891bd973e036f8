import { randomUUID } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** An error as AWS names it: `code` is the exception's name, `status` the HTTP status. */
export class AwsError extends Error {
  readonly code: string
  readonly status: number
  /** The older name that SQS repeats in `x-amzn-query-error`; clients look for that one first. */
  readonly queryCode: string | undefined

  constructor(code: string, message: string, options: { status?: number; queryCode?: string } = {}) {
    super(message)
    this.name = code
    this.code = code
    this.status = options.status ?? 400
    this.queryCode = options.queryCode
  }
}

/** A request whose body has been read. */
export interface AwsRequest extends Pick<IncomingMessage, 'headers'> {
  method: string
  /** Without the query, still percent-encoded. */
  path: string
  /** The two parts of X-Amz-Target; both are empty if the request has none. */
  target: { service: string; operation: string }
  body: Buffer
}

/** A complete answer. */
export interface Answer {
  status: number
  headers: OutgoingHttpHeaders
  body: string | Buffer
}

// The largest request is DynamoDB's BatchWriteItem: 16 MiB, and room for the JSON around it.
const maxBodyBytes = 24 * 1024 * 1024

/** Reads a request; throws RequestEntityTooLargeException for a body that no service here would accept. */
export async function readRequest(message: IncomingMessage): Promise<AwsRequest> {
  const { method = '', url = '/', headers } = message
  const [service = '', operation = ''] = String(headers['x-amz-target'] ?? '').split('.')
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBodyBytes)
      throw new AwsError('RequestEntityTooLargeException', 'Request size exceeded the limit', { status: 413 })
    chunks.push(chunk)
  }
  const path = url.split('?', 1)[0] ?? '/'
  return { method, path, headers, target: { service, operation }, body: Buffer.concat(chunks) }
}

/** Parses a body; throws `errorCode` if it is not JSON, and never quotes the body, which may hold secrets. */
export function parseJson(body: Buffer, errorCode = 'SerializationException'): unknown {
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString())
  } catch {
    throw new AwsError(errorCode, 'The request body is not JSON.')
  }
}

/** Answers with JSON; an operation without output has an empty body. */
export function jsonAnswer(contentType: string, output: unknown): Answer {
  const body = output === undefined ? '' : JSON.stringify(output)
  return { status: 200, headers: { 'content-type': contentType }, body }
}

/** Answers with an error: JSON clients find its code in the body, REST clients in a header. */
export function errorAnswer(contentType: string, { status, code, queryCode, message }: AwsError): Answer {
  return {
    status,
    headers: {
      'content-type': contentType,
      'x-amzn-errortype': code,
      ...(queryCode !== undefined && { 'x-amzn-query-error': `${queryCode};Sender` }),
    },
    // Services spell the member `message` or `Message`, and clients read one of them.
    body: JSON.stringify({ __type: code, message, Message: message }),
  }
}

/** Sends an answer, with a request id unless it has one. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  // A 204 has no content-length (RFC 9110 section 8.6).
  const length = status === 204 ? {} : { 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { 'x-amzn-requestid': randomUUID(), ...length, ...headers }).end(body)
}

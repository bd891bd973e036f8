import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { AwsError } from './aws-error.ts'

/** Answers in one of AWS's JSON protocols. */
export function respondJson(response: ServerResponse, contentType: string, body: unknown): void {
  const text = body === undefined ? '' : JSON.stringify(body)
  response.writeHead(200, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'x-amzn-requestid': randomUUID(),
  })
  response.end(text)
}

/**
 * Answers with a failure: the name in the body and in the header, since JSON 1.0 and 1.1 clients read the one and
 * REST clients the other; the text under both spellings that services use.
 */
export function respondError(response: ServerResponse, contentType: string, error: AwsError): void {
  const text = JSON.stringify({ __type: error.code, message: error.message, Message: error.message })
  response.writeHead(error.status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'x-amzn-requestid': randomUUID(),
    'x-amzn-errortype': error.code,
    ...(error.queryCode === undefined ? {} : { 'x-amzn-query-error': `${error.queryCode};Sender` }),
  })
  response.end(text)
}

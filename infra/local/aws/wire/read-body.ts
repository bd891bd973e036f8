import type { IncomingMessage } from 'node:http'
import { AwsError } from './aws-error.ts'

// The largest request any of the services takes: DynamoDB's BatchWriteItem, 16 MiB, with room for the JSON around it.
const limitBytes = 24 * 1024 * 1024

/** The whole body of a request; refuses what is larger than any AWS service here would take. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limitBytes)
      throw new AwsError('RequestEntityTooLargeException', 'Request size exceeded the limit', { status: 413 })
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}

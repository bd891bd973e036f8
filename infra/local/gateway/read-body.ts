import type { IncomingMessage } from 'node:http'

/** The whole body, or undefined where it is longer than the limit. */
export async function readBody(message: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  if (Number(message.headers['content-length'] ?? 0) > limitBytes) return undefined
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limitBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

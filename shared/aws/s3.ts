import { SignatureV4 } from '@smithy/signature-v4'
import { createHash } from 'node:crypto'
import { kms } from './kms.ts'

// Signs requests to S3 with the KMS client's region, credentials and hash function. The code of an S3 client
// would double the size of a bundle.
const signer = new SignatureV4({ ...kms.config, service: 's3', uriEscapePath: false })

/**
 * Sends a request to S3: PUT with a `body`, GET without. Makes one attempt of two seconds, and resolves with
 * the answer's text. A PUT has a checksum, because Object Lock requires it (S3: PutObject).
 */
export async function callS3(address: URL, body?: string): Promise<string> {
  const { protocol, host, hostname, pathname: path, searchParams } = address
  const checksum = body && { 'x-amz-checksum-sha256': createHash('sha256').update(body).digest('base64') }
  const { method, headers } = await signer.sign({
    ...{ method: body ? 'PUT' : 'GET', protocol, hostname, path, body },
    query: Object.fromEntries(searchParams),
    headers: { host, ...checksum },
  })
  const signal = AbortSignal.timeout(2_000)
  const response = await fetch(address, { method, headers, signal, body: body ?? null })
  const { status: httpStatusCode } = response
  if (response.ok) return response.text()
  throw Object.assign(new Error(`S3 answered ${httpStatusCode}`), { $metadata: { httpStatusCode } })
}

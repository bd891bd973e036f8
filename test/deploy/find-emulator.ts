/** Thrown if there is no AWS emulator to deploy to; the message says why. */
export class NoEmulatorError extends Error {
  override readonly name = 'NoEmulatorError'
}

/** An AWS emulator that answers. */
export interface Emulator {
  name: 'ministack' | 'LocalStack' | 'AWS emulator'
  endpoint: string
  /** Whether it refuses requests that are not signed with keys of its own. */
  demandsKeys: boolean
}

/** Host names of AWS itself. A run for emulators must never reach them. */
const awsHost = /(^|\.)(amazonaws\.com(\.cn)?|api\.aws|aws\.dev)$/

/**
 * Finds the AWS emulator at an endpoint. It calls CloudFormation, which emulators have and this project's
 * local stack does not. Throws a NoEmulatorError that tells an absent emulator from a certificate that this
 * process does not trust.
 */
export async function findEmulator(endpoint: string | undefined): Promise<Emulator> {
  if (endpoint === undefined)
    throw new NoEmulatorError(
      'no AWS emulator to deploy to: set AWS_ENDPOINT_URL to the address of one, or give --ministack, or --stage for a real account',
    )
  if (!URL.canParse(endpoint)) throw new NoEmulatorError(`AWS_ENDPOINT_URL is no address: ${endpoint}`)
  if (awsHost.test(new URL(endpoint).hostname))
    throw new NoEmulatorError(`${endpoint} is AWS itself: unset AWS_ENDPOINT_URL and give --stage`)
  const { status, text } = await describeStacks(endpoint)
  const demandsKeys = status === 403 && /InvalidClientTokenId|UnrecognizedClient|Signature/.test(text)
  if (!demandsKeys && !text.includes('<DescribeStacksResponse'))
    throw new NoEmulatorError(
      `what answers at ${endpoint} is no AWS emulator to deploy to: it does not know CloudFormation`,
    )
  return { name: await nameOf(endpoint), endpoint: endpoint.replace(/\/$/, ''), demandsKeys }
}

async function describeStacks(endpoint: string): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        // An unverified signature: most emulators only read the service's name from it.
        authorization:
          'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/cloudformation/aws4_request, SignedHeaders=host, Signature=none',
      },
      body: new URLSearchParams({ Action: 'DescribeStacks', Version: '2010-05-15' }),
      signal: AbortSignal.timeout(10_000),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    throw new NoEmulatorError(explain(endpoint, error))
  }
}

/** Explains a failed connection by the code of its cause, which `fetch` hides in `cause`. */
function explain(endpoint: string, error: unknown): string {
  const { cause } = error as { cause?: { code?: string } }
  const code = cause?.code ?? ''
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code))
    return `an emulator may answer at ${endpoint}, but its certificate is not trusted (${code}): set NODE_EXTRA_CA_CERTS to the file of its certificate`
  if (/SSL|EPROTO/.test(code))
    return `what answers at ${endpoint} speaks no TLS: set AWS_ENDPOINT_URL to an http:// address`
  return `no AWS emulator answers at ${endpoint}, where AWS_ENDPOINT_URL points${code === '' ? '' : ` (${code})`}`
}

async function nameOf(endpoint: string): Promise<Emulator['name']> {
  const answers = async (path: string) =>
    (await fetch(new URL(path, endpoint), { signal: AbortSignal.timeout(10_000) })).ok
  if (await answers('/_ministack/health')) return 'ministack'
  return (await answers('/_localstack/health')) ? 'LocalStack' : 'AWS emulator'
}

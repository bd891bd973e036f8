/** Thrown if there is no AWS emulator to deploy to; the message says why. */
export class NoEmulatorError extends Error {
  override readonly name = 'NoEmulatorError'
}

/**
 * Checks that an AWS emulator answers at an endpoint. It calls CloudFormation, which emulators have and this
 * project's local stack does not. Throws a NoEmulatorError otherwise.
 */
export async function findEmulator(endpoint: string | undefined): Promise<void> {
  if (endpoint === undefined)
    throw new NoEmulatorError(
      'no AWS emulator to deploy to: set AWS_ENDPOINT_URL to the address of one, for example LocalStack',
    )
  const answer = await describeStacks(endpoint)
  if (!answer.includes('<DescribeStacksResponse'))
    throw new NoEmulatorError(
      `what answers at ${endpoint} is no AWS emulator to deploy to: it does not know CloudFormation`,
    )
}

async function describeStacks(endpoint: string): Promise<string> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        // An unverified signature: emulators only read the service's name from it.
        authorization:
          'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/cloudformation/aws4_request, SignedHeaders=host, Signature=none',
      },
      body: new URLSearchParams({ Action: 'DescribeStacks', Version: '2010-05-15' }),
      signal: AbortSignal.timeout(10_000),
    })
    return await response.text()
  } catch {
    throw new NoEmulatorError(`no AWS emulator answers at ${endpoint}, where AWS_ENDPOINT_URL points`)
  }
}

/** Why nothing can be deployed: what was asked for an emulator, and what it said. */
export class NoEmulator extends Error {
  override readonly name = 'NoEmulator'
}

/**
 * Makes sure that what answers at an address deploys stacks. Asks CloudFormation, which every emulator of AWS has and the
 * local stack of this project has not.
 */
export async function findEmulator(endpoint: string | undefined): Promise<void> {
  if (endpoint === undefined)
    throw new NoEmulator(
      'no AWS emulator to deploy to: set AWS_ENDPOINT_URL to the address of one, for example LocalStack',
    )
  const said = await describeStacks(endpoint)
  if (!said.includes('<DescribeStacksResponse'))
    throw new NoEmulator(
      `what answers at ${endpoint} is no AWS emulator to deploy to: it does not know CloudFormation`,
    )
}

async function describeStacks(endpoint: string): Promise<string> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        // Emulators read the service out of the signature, and verify nothing of it.
        authorization:
          'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/cloudformation/aws4_request, SignedHeaders=host, Signature=none',
      },
      body: new URLSearchParams({ Action: 'DescribeStacks', Version: '2010-05-15' }),
      signal: AbortSignal.timeout(10_000),
    })
    return await response.text()
  } catch {
    throw new NoEmulator(`no AWS emulator answers at ${endpoint}, where AWS_ENDPOINT_URL points`)
  }
}

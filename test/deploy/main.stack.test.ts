import { execFile } from 'node:child_process'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useLocalStack } from '../support/local-stack.ts'
import { findEmulator } from './find-emulator.ts'
import { signIn, useWallet } from './flows.ts'

/**
 * Runs the script of `npm run test:deploy` as a process, without npm, with or without an emulator's endpoint.
 */
function run(endpoint: string | undefined) {
  const environment = { ...process.env }
  Reflect.deleteProperty(environment, 'AWS_ENDPOINT_URL')
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; out: string; error: string }>()
  execFile(
    process.execPath,
    [join(import.meta.dirname, 'main.ts')],
    { env: endpoint === undefined ? environment : { ...environment, AWS_ENDPOINT_URL: endpoint } },
    (failure, out, error) => resolve({ code: failure?.code ?? 0, out, error }),
  )
  return promise
}

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1').unref()
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('npm run test:deploy', () => {
  it.each([
    ['no address is set', async () => undefined, /^no AWS emulator to deploy to: set AWS_ENDPOINT_URL .+\n$/],
    ['nothing answers', async () => 'http://127.0.0.1:9', /^no AWS emulator answers at http:.+\n$/],
    [
      'the local stack answers',
      async () => (await useLocalStack()).aws_endpoint,
      /^what answers at http.+ is no AWS emulator to deploy to: .+\n$/,
    ],
  ])('npm run test:deploy exits 2 with one line when %s', async (_what, address, line) => {
    const { code, out, error } = await run(await address())
    expect(error).toMatch(line)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  it('an endpoint that answers CloudFormation calls is accepted as an AWS emulator', async () => {
    const endpoint = await listen((_request, response) => response.end('<DescribeStacksResponse xmlns="…"/>'))
    await expect(findEmulator(endpoint)).resolves.toBeUndefined()
  })

  it('the flows of npm run test:deploy pass on the local stack', async () => {
    await useWallet(await signIn())
  })
})

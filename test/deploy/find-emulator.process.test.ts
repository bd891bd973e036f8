import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findEmulator } from './find-emulator.ts'
import { makeCertificate } from './ministack.ts'

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1').unref()
  await new Promise((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

const serve = async (answer: RequestListener) => `http://127.0.0.1:${await listen(createServer(answer))}`

/** Answers like an emulator that has a health page at one path. */
const emulate =
  (health: string): RequestListener =>
  (request, response) => {
    if (request.method === 'POST') return void response.end('<DescribeStacksResponse xmlns="…"/>')
    response.statusCode = request.url === health ? 200 : 404
    response.end()
  }

describe('findEmulator', () => {
  it.each([
    ['/_ministack/health', 'ministack'],
    ['/_localstack/health', 'LocalStack'],
    ['/health', 'AWS emulator'],
  ])('an emulator with a page %s is known as %s', async (health, name) => {
    const endpoint = await serve(emulate(health))
    await expect(findEmulator(endpoint)).resolves.toEqual({ name, endpoint, demandsKeys: false })
  })

  it('an emulator that refuses an invented signature is known to demand its own keys', async () => {
    const endpoint = await serve((_request, response) => {
      response.statusCode = 403
      response.end('<ErrorResponse><Error><Code>InvalidClientTokenId</Code></Error></ErrorResponse>')
    })
    expect((await findEmulator(endpoint)).demandsKeys).toBe(true)
  })

  it('a certificate that is not trusted is told from an emulator that is absent', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'certificate-'))
    const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
    makeCertificate(cert, key)
    const options = { cert: readFileSync(cert), key: readFileSync(key) }
    const port = await listen(createTlsServer(options, emulate('/')))
    await expect(findEmulator(`https://127.0.0.1:${port}`)).rejects.toThrow(
      /its certificate is not trusted .*: set NODE_EXTRA_CA_CERTS/,
    )
    await expect(findEmulator('https://127.0.0.1:9')).rejects.toThrow(/^no AWS emulator answers at https:/)
  })

  it('an https address of a server without TLS is named as such', async () => {
    const endpoint = await serve(emulate('/'))
    await expect(findEmulator(endpoint.replace('http:', 'https:'))).rejects.toThrow(/speaks no TLS/)
  })

  it.each(['https://cloudformation.us-east-1.amazonaws.com', 'https://sqs.cn-north-1.amazonaws.com.cn'])(
    'AWS itself at %s is never taken for an emulator',
    async (endpoint) => {
      await expect(findEmulator(endpoint)).rejects.toThrow(/is AWS itself/)
    },
  )
})

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useLocalStack } from '../support/local-stack.ts'
import { signInToClient } from './flows/code-flow.ts'
import { refuseEvent } from './flows/dead-letter.ts'
import { signIn, signOut } from './flows/sign-in.ts'
import { useWallet } from './flows/wallet.ts'

/**
 * Runs the script of `npm run test:deploy` as a process, without npm, with or without an emulator's endpoint.
 */
function run(endpoint: string | undefined, ...options: string[]) {
  const environment = { ...process.env }
  Reflect.deleteProperty(environment, 'AWS_ENDPOINT_URL')
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; out: string; error: string }>()
  execFile(
    process.execPath,
    [join(import.meta.dirname, 'main.ts'), ...options],
    { env: endpoint === undefined ? environment : { ...environment, AWS_ENDPOINT_URL: endpoint } },
    (failure, out, error) => resolve({ code: failure?.code ?? 0, out, error }),
  )
  return promise
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

  it.each([
    ['an option that it does not have', ['--nonsense'], /--nonsense.*\n(.*\n)*.*--ministack/],
    ['a stage that cdk.json does not have', ['--stage', 'nowhere'], /cdk.json has no stage nowhere/],
    ['a stage that is not configured', ['--stage', 'prod'], /missing: "mailFrom"/],
  ])('npm run test:deploy exits 2 for %s', async (_what, options, line) => {
    const { code, out, error } = await run(undefined, ...options)
    expect(error).toMatch(line)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  it('npm run test:deploy refuses a real stage while AWS_ENDPOINT_URL points elsewhere', async () => {
    const { code, error } = await run('http://127.0.0.1:9', '--stage', 'dev', '--yes')
    expect({ code, error }).toEqual({
      code: 2,
      error: '--stage is for a real account: unset AWS_ENDPOINT_URL\n',
    })
  })

  it('the flows of npm run test:deploy pass on the local stack', async () => {
    const target = ['--url', (await useLocalStack()).base_url]
    const user = await signIn()
    await signInToClient(user)
    await useWallet(user)
    await refuseEvent(user, target)
    await signOut(user)
  })
})

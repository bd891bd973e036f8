import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { bundleDirectory, bundleFunctions } from '../../../infra/bundle/functions.ts'
import { events } from '../../../infra/events.ts'
import { routes } from '../../../infra/routes.ts'
import { ownSource } from '../../../shared/env.ts'
import type { Intake } from '../../../shared/events/intake.ts'
import { deliverBatch } from '../../support/deliver.ts'
import { fakeAws } from '../../support/fake-aws.ts'

/** Maximum size of a bundle. Each byte slows down a cold start, which reads and compiles the whole bundle. */
const maxBytes = 265_000

const bundleFile = (entry: string) => join(bundleDirectory(entry), 'index.mjs')

/**
 * Loads a bundle and passes it to `use`. A fake AWS refuses mails with the error `mailError`, and accepts
 * other calls. Returns the result of `use`, and the AWS operations that were called.
 */
async function loadBundle<T>(entry: string, mailError: string, use: (bundle: object) => T | Promise<T>) {
  const calls: string[] = []
  const result = await fakeAws(
    (request, response) => {
      void text(request).then((body) => {
        const target = String(request.headers['x-amz-target'] ?? 'SendEmail').replace(/^.*\./, '')
        calls.push(target)
        const { MessageBody = '' } = JSON.parse(body) as { MessageBody?: string }
        const isMail = target === 'SendEmail'
        response.writeHead(isMail ? 400 : 200, isMail ? { 'x-amzn-errortype': mailError } : {})
        const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex')
        response.end(JSON.stringify(isMail ? { message: 'no' } : { MD5OfMessageBody }))
      })
    },
    async (url) => {
      vi.stubEnv('QUEUE_URL', `${url}/queue`)
      vi.stubEnv('DEAD_LETTER_QUEUE_URL', `${url}/dead-letters`)
      return use((await import(`${pathToFileURL(bundleFile(entry)).href}?${mailError}`)) as object)
    },
  )
  return { result, calls }
}

const deliverMail = (code: string) =>
  loadBundle('intake/mail.requested', code, async (bundle) => {
    const kept = { mail_id: code, kind: 'code', to: 'typo@example.com', code: '012345' }
    const mail = { ...kept, expires_at: Date.now() + 60_000 }
    const { handler } = bundle as { handler: Intake }
    const [delivery] = await deliverBatch(handler, [mail], undefined, { source: ownSource })
    return delivery
  })

describe('bundleFunctions', () => {
  beforeAll(() => bundleFunctions())

  const intakes = events.map(({ detailType }) => `intake/${detailType}`)
  const entries = new Set([...routes.map(({ entry }) => entry), ...intakes])
  it.each([...entries])('the bundle of %s is small enough for a fast cold start', (entry) => {
    expect(statSync(bundleFile(entry)).size).toBeLessThan(maxBytes)
  })

  it.each([...intakes, 'worker/grow-tree'])(
    '%s pauses on the hour: its bundle has the middleware',
    (entry) => {
      expect(readFileSync(bundleFile(entry), 'utf8').includes('restOnTheHour')).toBe(true)
    },
  )

  it('a function does not load the parts of Node.js that it never uses: fetch, web streams, file watchers', async () => {
    const url = pathToFileURL(bundleFile('account/info')).href
    const script = `await import('${url}'); console.log(process.moduleLoadList.join('\\n'))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
    expect(stdout).toContain('NativeModule https')
    expect(stdout).not.toMatch(/undici|webstreams|fs\/(promises|watchers)/)
  })

  it('a bundled function still recognizes the AWS errors that it distinguishes by class', async () => {
    const refuse = ['TransactWriteItems', 'SendMessage', 'UpdateItem']
    expect(await deliverMail('BadRequestException')).toEqual({
      result: 'done',
      calls: ['SendEmail', ...refuse],
    })
    expect(await deliverMail('AccountSuspendedException')).toEqual({
      result: 'retry',
      calls: ['SendEmail', 'ChangeMessageVisibility'],
    })
  })

  it('only a function for signed-in users reads the table before its first request', async () => {
    vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand')
    // The session, with strong consistency, and the wallet.
    const calls = ['BatchGetItem', 'BatchGetItem']
    expect((await loadBundle('account/info', '', Object.keys)).calls).toEqual(calls)
    expect((await loadBundle('well-known/jwks', '', Object.keys)).calls).toEqual([])
  })
})

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AwsEndpoint } from '../aws/server.ts'
import { serveDocs } from '../docs/serve-docs.ts'
import { pageHeaders, serveFile } from '../http/serve-file.ts'
import type { StackModel } from '../model.ts'
import { type DemoUser, demoPassword } from '../demo/demo-users.ts'
import { localPageDirectory } from '../page/bundle-local-page.ts'
import { describeStack } from './describe-stack.ts'
import type { KeyReader } from './open-key-reader.ts'

interface LocalView {
  model: StackModel
  aws: AwsEndpoint
  baseUrl: string
  pageUrl: string
  users: DemoUser[]
  keys: KeyReader
}

/** Names by which this machine may be called: a page from elsewhere that rebinds its name to us has another. */
const localHosts = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/i

/**
 * Answers what is below `/_local`, which exists on a laptop only: the page, and the same as JSON.
 * Undefined for every other path.
 */
export function createLocalHandler(
  view: LocalView,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined {
  const json: Record<string, (query: URLSearchParams) => unknown> = {
    '/_local/stack': () => describeStack(view.model, view.aws, view),
    '/_local/outbox': (query) => ({ messages: view.aws.outbox(query.get('to') ?? undefined) }),
    '/_local/users': () => ({
      users: view.users.map(({ email, totp_secret }) => ({ email, password: demoPassword, totp_secret })),
    }),
    '/_local/queues': () => ({ queues: view.aws.queues(), dead_letters: view.aws.deadLetters() }),
    '/_local/keys': () => view.keys.read(),
  }
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url?.replace(/^\/+/, '/') ?? '/', 'http://local')
    if (pathname !== '/_local' && !pathname.startsWith('/_local/')) return undefined
    return answer(request, response, pathname, json[pathname]?.bind(undefined, searchParams))
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pathname: string,
  describe: (() => unknown) | undefined,
): Promise<void> {
  if (!localHosts.test(request.headers.host ?? '')) return refuse(response, 403, 'Forbidden')
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse(response, 405, 'Method Not Allowed')
  if (pathname === '/_local') return void response.writeHead(302, { location: '/_local/' }).end()
  if (describe !== undefined) return sendJson(response, 200, await describe())
  // The reference client's redirect URI is the page itself.
  const path = pathname === '/_local/callback' ? '/' : pathname.slice('/_local'.length)
  if (await serveDocs(response, path)) return
  if (!(await serveFile(response, localPageDirectory, path, pageHeaders))) refuse(response, 404, 'Not Found')
}

const refuse = (response: ServerResponse, status: number, message: string): void =>
  sendJson(response, status, { message })

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(body)
}

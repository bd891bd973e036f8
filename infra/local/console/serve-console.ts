import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import type { AwsEndpoint } from '../aws/server.ts'
import { type DemoUser, demoPassword } from '../demo/demo-users.ts'
import { contentTypes } from '../http/bind-server.ts'
import type { StackModel } from '../model.ts'
import { describeStack } from './describe-stack.ts'

interface ConsoleOptions {
  model: StackModel
  aws: AwsEndpoint
  baseUrl: string
  pageUrl: string
  logFile: string
  users: DemoUser[]
}

const root = join(import.meta.dirname, '..', '..', '..')

/** Content-Security-Policy of the console: loads only from its own origin, without inline code or frames. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Content-Security-Policy of the API reference: its viewer needs inline styles and a blob worker. */
const docsPolicy = `${policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")}; worker-src blob:`

/** Files served below /_local, by path: the console, the events, and the API reference with its viewer. */
const files: Record<string, string> = {
  '/': join(import.meta.dirname, 'index.html'),
  '/main.js': join(import.meta.dirname, 'client', 'main.ts'),
  '/console.css': join(import.meta.dirname, 'console.css'),
  '/icon.svg': join(root, 'infra', 'authorization-page', 'icon.svg'),
  '/asyncapi.json': join(root, 'dist', 'asyncapi.json'),
  '/docs/': join(import.meta.dirname, 'docs.html'),
  '/docs/redoc.js': createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js'),
  '/docs/openapi.json': join(root, 'dist', 'openapi.json'),
}

/** URL of a logo that the API reference's viewer would load from another site; it is removed. */
const viewerLogo = 'https://cdn.redoc.ly/redoc/logo-mini.svg'

let referencesWritten: Promise<unknown> | undefined

/** Serves the console, and its data as JSON, below /_local. Returns undefined for every other path. */
export function createConsole(
  options: ConsoleOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined {
  const { model, aws, users } = options
  const facts: Record<string, (query: URLSearchParams) => unknown> = {
    '/stack': () => describeStack(model, aws, options),
    '/outbox': (query) => ({ messages: aws.outbox(query.get('to') ?? undefined) }),
    '/users': () => ({
      users: users.map(({ email, totp_secret }) => ({ email, password: demoPassword, totp_secret })),
    }),
    '/queues': () => ({ queues: aws.queues(), dead_letters: aws.deadLetters() }),
  }
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url?.replace(/^\/+/, '/') ?? '/', 'http://local')
    if (!/^\/_local(\/|$)/.test(pathname)) return undefined
    const path = pathname.slice('/_local'.length)
    return answer(request, response, path, facts[path]?.bind(undefined, searchParams))
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  readFacts: (() => unknown) | undefined,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return sendJson(response, 405, { message: 'Method Not Allowed' })
  if (path === '' || path === '/docs')
    return void response.writeHead(302, { location: `/_local${path}/` }).end()
  if (readFacts !== undefined) return sendJson(response, 200, await readFacts())
  const file = Object.hasOwn(files, path) ? files[path] : undefined
  if (file === undefined) return sendJson(response, 404, { message: 'Not Found' })
  if (path.endsWith('api.json')) await (referencesWritten ??= writeReferences())
  const contents = await (path === '/main.js' ? bundleScript(file) : readFile(file, 'utf8'))
  const csp = path.startsWith('/docs/') ? docsPolicy : policy
  const body = contents.replaceAll(viewerLogo, 'data:,')
  send(response, 200, contentTypes[extname(path) || '.html'] ?? '', body, { 'content-security-policy': csp })
}

async function bundleScript(file: string): Promise<string> {
  const options = { bundle: true, format: 'esm', platform: 'browser', write: false } as const
  const { outputFiles } = await build({ entryPoints: [file], ...options })
  return outputFiles.map(({ text }) => text).join('')
}

const sendJson = (response: ServerResponse, status: number, value: unknown): void =>
  send(response, status, 'application/json', JSON.stringify(value))

function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    ...headers,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  response.end(body)
}

/** Writes both references to dist in a separate process, because writing them loads every function. */
const writeReferences = () => promisify(execFile)(process.execPath, ['infra/openapi/write.ts'], { cwd: root })

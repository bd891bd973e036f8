import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import * as v from 'valibot'
import type { AwsEndpoint } from '../aws/server.ts'
import type { DemoUser } from '../demo/demo-users.ts'
import { contentTypes, readUrl } from '../http/bind-server.ts'
import type { StackModel } from '../model.ts'
import { describeStack } from './describe-stack.ts'

interface ConsoleOptions {
  model: StackModel
  aws: AwsEndpoint
  baseUrl: string
  pageUrl: string
  appUrl: string
  logFile: string
  users: DemoUser[]
}

const root = join(import.meta.dirname, '..', '..', '..')

const { resolve } = createRequire(import.meta.url)

/** Content-Security-Policy: only the stack's own origin, without inline code, inline styles or frames. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * Files served below /_local, by path. The API reference uses Swagger UI, because it obeys the
 * Content-Security-Policy and loads nothing from other sites. Scalar would be an alternative, but needs 270
 * packages.
 */
const files: Record<string, string> = {
  '/': join(import.meta.dirname, 'index.html'),
  '/main.js': join(import.meta.dirname, 'client', 'main.ts'),
  '/console.css': join(import.meta.dirname, 'console.css'),
  '/pico.css': resolve('@picocss/pico/css/pico.classless.min.css'),
  '/icon.svg': join(root, 'infra', 'authorization-page', 'icon.svg'),
  '/docs/': join(import.meta.dirname, 'reference.html'),
  '/docs/reference.js': join(import.meta.dirname, 'client', 'reference.ts'),
  '/docs/reference.css': join(import.meta.dirname, 'reference.css'),
  '/docs/swagger-ui.js': resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  '/docs/swagger-ui.css': resolve('swagger-ui-dist/swagger-ui.css'),
  '/docs/openapi.json': join(root, 'dist', 'openapi.json'),
  '/asyncapi.json': join(root, 'dist', 'asyncapi.json'),
}

/** Schema of an operator command and its standard input. Rejects commands that name a file or a stage. */
const OpsRequest = v.object({
  command: v.pipe(v.string(), v.regex(/^(keys [a-z]+( [\w-]+)?|dlq redrive \w[\w.-]*|events put -)$/)),
  input: v.optional(v.string()),
})

let referencesWritten: Promise<unknown> | undefined

/** Serves the console, and its data as JSON, below /_local. Returns undefined for every other path. */
export function createConsole(
  options: ConsoleOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined {
  const { model, aws, users } = options
  const facts: Record<string, (query: URLSearchParams) => unknown> = {
    '/stack': () => describeStack(model, aws, options),
    // A `+` that was not encoded has become a space, which no address has.
    '/outbox': (query) => ({ messages: aws.outbox(query.get('to')?.replaceAll(' ', '+')) }),
    '/users': () => ({ users }),
    '/queues': () => ({ queues: aws.queues(), dead_letters: aws.deadLetters() }),
    '/outcomes': () => ({ outcomes: aws.outcomes() }),
    '/keys': async () => (await operate(options.baseUrl, 'keys status')).result,
  }
  return (request, response) => {
    const { pathname, searchParams } = readUrl(request)
    if (!/^\/_local(\/|$)/.test(pathname)) return undefined
    const path = pathname.slice('/_local'.length)
    if (path === '/ops') return answerOps(request, response, options.baseUrl)
    return answer(request, response, path, options.appUrl, facts[path]?.bind(undefined, searchParams))
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  appUrl: string,
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
  const body = await (file.endsWith('.ts') ? bundleScript(file) : readFile(file, 'utf8'))
  send(response, 200, contentTypes[extname(path) || '.html'] ?? '', body.replace('%APP_URL%', appUrl))
}

/** Runs an operator command. Takes only JSON, because CORS keeps pages of other sites from sending JSON. */
async function answerOps(request: IncomingMessage, response: ServerResponse, baseUrl: string): Promise<void> {
  if (request.headers['content-type'] !== 'application/json')
    return sendJson(response, 415, { message: 'Unsupported Media Type' })
  const parsed = v.safeParse(OpsRequest, await json(request).catch(() => undefined))
  if (!parsed.success) return sendJson(response, 400, { message: 'Bad Request' })
  sendJson(response, 200, await operate(baseUrl, parsed.output.command, parsed.output.input))
}

/** Runs an operator command on this stack. If it prints no result, `result` is null: see `problem`. */
async function operate(baseUrl: string, command: string, input?: string) {
  // Loads the commands at the first use, because their AWS clients would delay the start of the stack.
  const { captureOps } = await import('../../ops/command-line.ts')
  const { out, err } = await captureOps(['--json', '--url', baseUrl, ...command.split(' ')], input)
  return { result: out === '' ? null : (JSON.parse(out) as unknown), problem: err }
}

async function bundleScript(file: string): Promise<string> {
  const options = { bundle: true, format: 'esm', platform: 'browser', write: false } as const
  const { outputFiles } = await build({ entryPoints: [file], ...options })
  return outputFiles.map(({ text }) => text).join('')
}

const sendJson = (response: ServerResponse, status: number, value: unknown): void =>
  send(response, status, 'application/json', JSON.stringify(value))

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, {
    'content-security-policy': policy,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  response.end(body)
}

/**
 * Writes the OpenAPI and AsyncAPI documents in a new process, so that this process does not load the code of
 * all functions.
 */
const writeReferences = () => promisify(execFile)(process.execPath, ['infra/openapi/write.ts'], { cwd: root })

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileHeaders } from '../http/serve-file.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** The viewer styles itself with inline sheets and searches in a worker that it makes from a blob; nothing else is open. */
const headers = {
  ...fileHeaders,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; worker-src blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/** The one thing that the viewer would fetch from elsewhere: its maker's logo. */
const logo = 'https://cdn.redoc.ly/redoc/logo-mini.svg'

let written: Promise<string> | undefined

/** The API reference below `/_local/docs/`: the page, its viewer, and the document, made when somebody first looks. */
const files: Record<string, { type: string; read: () => Promise<string> }> = {
  '': {
    type: 'text/html; charset=utf-8',
    read: () => readFile(join(import.meta.dirname, 'index.html'), 'utf8'),
  },
  'redoc.js': {
    type: 'text/javascript; charset=utf-8',
    read: async () => {
      const viewer = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')
      return (await readFile(viewer, 'utf8')).replaceAll(logo, 'data:,')
    },
  },
  'openapi.json': {
    type: 'application/json',
    read: async () => readFile(join(root, await (written ??= writeDocument())), 'utf8'),
  },
}

/** Answers a path below `/_local/docs`, and resolves false for every other one. */
export async function serveDocs(response: ServerResponse, path: string): Promise<boolean> {
  if (path === '/docs') {
    response.writeHead(302, { location: '/_local/docs/' }).end()
    return true
  }
  const file = path.startsWith('/docs/') ? files[path.slice('/docs/'.length)] : undefined
  if (file === undefined) return false
  const body = await file.read()
  response.writeHead(200, {
    ...headers,
    'content-type': file.type,
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
  return true
}

/** Writes the document in a process of its own: it loads every function, which this process has no other need for. */
async function writeDocument(): Promise<string> {
  await promisify(execFile)(process.execPath, ['infra/openapi/write.ts'], { cwd: root })
  return join('dist', 'openapi.json')
}

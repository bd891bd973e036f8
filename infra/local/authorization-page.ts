import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { pageDirectory, renderIndex } from '../bundle-authorization-page.ts'
import {
  assetCacheControl,
  indexCacheControl,
  pageHeaders,
  pagePolicy,
} from '../authorization-page-headers.ts'
import type { RequestHandler } from './http/bind-server.ts'

const mediaTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Serves the bundled authorization page, told to talk to the API at `baseUrl`, as CloudFront does on AWS. */
export async function serveAuthorizationPage(baseUrl: string): Promise<RequestHandler> {
  const files = await readPage(baseUrl)
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    const file = files.get(pathname === '/' ? '/index.html' : pathname)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
    else if (file === undefined) response.writeHead(404, pageHeaders).end()
    else response.writeHead(200, file.headers).end(request.method === 'GET' ? file.body : undefined)
  }
}

async function readPage(baseUrl: string) {
  const names = (await readdir(pageDirectory, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  )
  const files = names.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    const content = await readFile(path, 'utf8')
    const isIndex = name === 'index.html'
    const headers = {
      ...pageHeaders,
      'content-security-policy': pagePolicy(baseUrl),
      'content-type': mediaTypes[extname(name)] ?? 'application/octet-stream',
      'cache-control': isIndex ? indexCacheControl : assetCacheControl,
    }
    return [
      path.slice(pageDirectory.length),
      { body: isIndex ? renderIndex(content, baseUrl) : content, headers },
    ] as const
  })
  return new Map(await Promise.all(files))
}

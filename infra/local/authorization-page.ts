import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import {
  assetCacheControl,
  indexCacheControl,
  pageHeaders,
  pagePolicy,
} from '../authorization-page-headers.ts'
import { pageDirectory, renderIndex } from '../bundle-authorization-page.ts'
import type { RequestHandler } from './http/bind-server.ts'

const contentTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Serves the bundled authorization page for the API at `baseUrl`, with the headers that CloudFront adds. */
export async function serveAuthorizationPage(baseUrl: string): Promise<RequestHandler> {
  const names = await readdir(pageDirectory, { recursive: true })
  const paths = names.filter((name) => extname(name) !== '')
  const files = new Map<string, string>(
    await Promise.all(
      paths.map(async (path): Promise<[string, string]> => [
        `/${path}`,
        await readFile(join(pageDirectory, path), 'utf8'),
      ]),
    ),
  )
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    const path = pathname === '/' ? '/index.html' : pathname
    const contents = files.get(path)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
    if (contents === undefined) return void response.writeHead(404, pageHeaders).end()
    const isIndex = path === '/index.html'
    response.writeHead(200, {
      ...pageHeaders,
      'content-security-policy': pagePolicy(baseUrl),
      'content-type': contentTypes[extname(path)] ?? 'application/octet-stream',
      'cache-control': isIndex ? indexCacheControl : assetCacheControl,
    })
    response.end(isIndex ? renderIndex(contents, baseUrl) : contents)
  }
}

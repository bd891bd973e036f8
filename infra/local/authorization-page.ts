import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import {
  assetCacheControl,
  indexCacheControl,
  pageHeaders,
  pagePolicy,
} from '../authorization-page-headers.ts'
import { pageDirectory, renderIndex } from '../bundle/page.ts'
import { contentTypes, readUrl, type RequestHandler } from './http/bind-server.ts'

/** Path of the authorization page on the API's server, so that one proxy (`--public-url`) shows both. */
export const pagePath = '/_local/page'

/**
 * Serves the bundled authorization page for the API at `baseUrl`, with the headers that CloudFront adds. The
 * page is below `prefix`.
 */
export const serveAuthorizationPage =
  (baseUrl: string, prefix = ''): RequestHandler =>
  async (request, response) => {
    // It has no `..` segment, so the path cannot leave the directory.
    const pathname = readUrl(request).pathname.slice(prefix.length)
    const path = ['/', '/sign-out'].includes(pathname) ? '/index.html' : pathname
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
    const contents = await readFile(join(pageDirectory, path), 'utf8').catch(() => undefined)
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

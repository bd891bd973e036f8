import { extname } from 'node:path'
import { pageHeaders, pagePolicy } from '../authorization-page-headers.ts'
import { renderIndex } from '../bundle/page.ts'
import { bundleSampleApp } from '../bundle/sample-app.ts'
import { contentTypes, readUrl, type RequestHandler } from './http/bind-server.ts'

/**
 * Serves the sample app for the API at `baseUrl`. Bundles it whenever somebody opens it, so that a reload
 * shows what has been edited. A path without extension shows the app, which has an address for each page.
 */
export function serveSampleApp(baseUrl: string): RequestHandler {
  // As strict as the authorization page's, but for a font and for the images in Pico's style sheet.
  const policy = `${pagePolicy(baseUrl).replace("img-src 'self'", '$& data:')}; font-src 'self'`
  let bundled: ReturnType<typeof bundleSampleApp> | undefined
  return async (request, response) => {
    const { pathname } = readUrl(request)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
    const isPage = extname(pathname) === ''
    if (isPage) bundled = bundleSampleApp()
    const path = isPage ? '/index.html' : pathname
    const contents = (await (bundled ??= bundleSampleApp())).get(path)
    if (contents === undefined) return void response.writeHead(404, pageHeaders).end()
    response.writeHead(200, {
      ...pageHeaders,
      'content-security-policy': policy,
      'content-type': contentTypes[extname(path)] ?? 'application/octet-stream',
      'cache-control': 'no-store',
    })
    response.end(isPage ? renderIndex(Buffer.from(contents).toString(), baseUrl) : contents)
  }
}

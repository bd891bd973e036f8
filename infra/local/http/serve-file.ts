import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** Headers of every file. */
export const fileHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/** Headers of a page of our own: nothing from elsewhere, nothing inline, no frames. */
export const pageHeaders = {
  ...fileHeaders,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/** Answers with a file below a directory (`index.html` for a folder), and resolves false where there is none. */
export async function serveFile(
  response: ServerResponse,
  directory: string,
  path: string,
  headers: Record<string, string>,
): Promise<boolean> {
  const relative = normalize(decodePath(path)).replace(/^[/\\]+/, '')
  const file = join(directory, path.endsWith('/') ? join(relative, 'index.html') : relative)
  if (!file.startsWith(directory + sep)) return false
  const contents = await readIfFile(file)
  if (contents === undefined) return false
  response.writeHead(200, {
    ...headers,
    'content-type': contentTypes[extname(file)] ?? 'application/octet-stream',
    'content-length': contents.length,
  })
  response.end(contents)
  return true
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // Not well-formed: there is no file of that name.
    return '\0'
  }
}

async function readIfFile(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR' || code === 'ERR_INVALID_ARG_VALUE')
      return undefined
    throw error
  }
}

import { parseExactly } from './exact-json.ts'

/** An answer of the API that is not success. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type Query = Record<string, string | number | undefined>

/** The API as the signed-in user sees it. Every call throws an `ApiError` with the API's own sentence. */
export interface Api {
  get: <Data>(path: string, query?: Query) => Promise<Data>
  post: <Data>(path: string, body: object) => Promise<Data>
  /** What is left without an envelope, a CSV for instance. */
  download: (path: string, query: Query, mediaType: string) => Promise<Blob>
}

/** Calls the API with a token; `onSignedOut` hears when the token no longer counts. */
export function makeApi(baseUrl: string, accessToken: string, onSignedOut: () => void): Api {
  const send = async (
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
  ) => {
    const response = await fetch(baseUrl + path, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${accessToken}` },
      credentials: 'omit',
    })
    if (response.ok) return response
    if (response.status === 401) onSignedOut()
    const { code, msg } = (await response.json()) as { code: number; msg: string }
    throw new ApiError(response.status, `${msg} (${code})`)
  }
  const read = async <Data>(response: Response) =>
    (parseExactly(await response.text()) as { data: Data }).data
  return {
    get: async (path, query = {}) => read(await send(path + toQuery(query), {})),
    post: async (path, body) =>
      read(
        await send(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
    download: async (path, query, mediaType) =>
      (await send(path + toQuery(query), { headers: { accept: mediaType } })).blob(),
  }
}

function toQuery(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

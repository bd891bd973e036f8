/** A number with all its digits: a text where a double would lose some. Never computed with. */
export type Exact = number | string

type Query = Record<string, string | number | undefined>

/** The API as the signed-in user sees it. Every call throws an error with the API's own message and code. */
export interface Api {
  get: <Data>(path: string, query?: Query) => Promise<Data>
  post: <Data>(path: string, body: object) => Promise<Data>
  /** Reads an answer that has no envelope, such as a CSV. */
  download: (path: string, query: Query, mediaType: string) => Promise<Blob>
}

/** Calls the API with a token. `onSignedOut` is called when the token is no longer valid. */
export function makeApi(baseUrl: string, accessToken: string, onSignedOut: () => void): Api {
  const send = async (path: string, query: Query, headers: Record<string, string>, body?: string) => {
    const response = await fetch(baseUrl + path + toQueryString(query), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, authorization: `Bearer ${accessToken}` },
      credentials: 'omit',
      ...(body === undefined ? {} : { body }),
    })
    if (response.ok) return response
    if (response.status === 401) onSignedOut()
    const { code, msg } = (await response.json()) as { code: number; msg: string }
    throw new Error(`${msg} (${code})`)
  }
  const readData = async <Data>(response: Response) =>
    (parseExactly(await response.text()) as { data: Data }).data
  const json = { 'content-type': 'application/json' }
  return {
    get: async (path, query = {}) => readData(await send(path, query, {})),
    post: async (path, body) => readData(await send(path, {}, json, JSON.stringify(body))),
    download: async (path, query, mediaType) => (await send(path, query, { accept: mediaType })).blob(),
  }
}

// A number that a double cannot hold to the letter becomes its text. Browsers that do not give the source
// text round it.
const parseExactly = (text: string): unknown =>
  JSON.parse(text, (_name, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? context.source
      : value,
  )

function toQueryString(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

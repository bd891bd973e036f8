/** A number with all its digits: text if a double would lose some. Only displayed, never calculated with. */
export type Exact = number | string

type Query = Record<string, string | number | undefined>

/** Calls of the API with the user's token. Every call throws an error whose message is for the user. */
export interface Api {
  get: <Data>(path: string, query?: Query) => Promise<Data>
  post: <Data>(path: string, body: object) => Promise<Data>
  /** Downloads an answer without the JSON envelope, such as a CSV file. */
  download: (path: string, query: Query, mediaType: string) => Promise<Blob>
}

/** Creates the API client for an access_token. `onSignedOut` is called when the token is no longer valid. */
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
    throw new Error(await describeFailure(response))
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

/**
 * Describes a failed answer: by the message and code of its envelope, or, for an answer of API Gateway or a
 * proxy without the envelope, by its status.
 */
async function describeFailure(response: Response): Promise<string> {
  const text = await response.text()
  const retryAfter = response.headers.get('retry-after')
  const wait = retryAfter === null ? '' : `; try again in ${retryAfter} s`
  return (readEnvelope(text) ?? describeStatus(response.status)) + wait
}

function readEnvelope(text: string): string | undefined {
  try {
    const { code, msg } = JSON.parse(text) as { code?: number; msg?: string }
    return code === undefined || msg === undefined ? undefined : `${msg} (${code})`
  } catch {
    // A proxy may answer with a page instead of JSON.
    return undefined
  }
}

function describeStatus(status: number): string {
  if (status === 413) return 'the request is too large (413)'
  if (status === 429 || status === 503) return `the service is busy, try again in a moment (${status})`
  return `the service did not answer (${status})`
}

// Keeps a number as text if a double cannot represent it exactly. Browsers that do not pass the source text
// to the reviver round it.
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

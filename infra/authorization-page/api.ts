/** Thrown when the API answers with a failure code, or does not answer. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** `code` of the API's JSON envelope; 0 if there was no valid answer. */
  readonly code: number
  /** Names of the invalid request fields, if the code is 40001 (invalid parameter). */
  readonly fields: string[]
  readonly retryAfterSeconds: number | undefined

  constructor(code: number, options: { fields?: string[]; retryAfterSeconds?: number | undefined } = {}) {
    super(`code ${code}`)
    this.code = code
    this.fields = options.fields ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Timeout of one API request; longer than the timeout of any endpoint, so that the API can answer first. */
const requestTimeoutMilliseconds = 20_000

const baseUrl = document.querySelector<HTMLMetaElement>('meta[name=base-url]')?.content ?? ''

/**
 * Posts JSON to an endpoint and returns the `data` of its envelope. Throws an ApiFailure unless it succeeds.
 */
export async function post<Data>(path: string, body: object, accessToken?: string): Promise<Data> {
  let response: Response
  let envelope: { code?: unknown; data?: unknown }
  try {
    response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
      },
      body: JSON.stringify(body),
      credentials: 'omit',
      signal: AbortSignal.timeout(requestTimeoutMilliseconds),
    })
    envelope = (await response.json()) as typeof envelope
  } catch {
    // The user sees one message for a broken connection, a timeout and an answer that is not JSON: no answer.
    throw new ApiFailure(0)
  }
  if (envelope.code === 0) return envelope.data as Data
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN)
  throw new ApiFailure(typeof envelope.code === 'number' ? envelope.code : 0, {
    fields: invalidFields(envelope.data),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}

function invalidFields(data: unknown): string[] {
  const errors = (data as { errors?: { field: string }[] } | null | undefined)?.errors
  return Array.isArray(errors) ? errors.map(({ field }) => field) : []
}

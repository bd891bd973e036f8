/** Thrown when the API answers with a failure code, or does not answer. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** `code` of the API's envelope, or the equivalent for an answer of API Gateway; 0 for other failures. */
  readonly code: number
  /** Names of the invalid request fields, if the code is 40001 (invalid parameter). */
  readonly fields: string[]
  readonly retryAfterSeconds: number | undefined
  /** Whether the API refused the request because the user signed in too long ago (RFC 9470 §3). */
  readonly signInTooOld: boolean

  constructor(
    code: number,
    options: { fields?: string[]; retryAfterSeconds?: number | undefined; signInTooOld?: boolean } = {},
  ) {
    super(`code ${code}`)
    this.code = code
    this.fields = options.fields ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.signInTooOld = options.signInTooOld ?? false
  }
}

/** Timeout of one API request; longer than the timeout of any endpoint, so that the API can answer first. */
const requestTimeoutMilliseconds = 20_000

const baseUrl = document.querySelector<HTMLMetaElement>('meta[name=base-url]')?.content ?? ''

/** Gets the `data` of an endpoint's envelope. Throws an ApiFailure unless the request succeeds. */
export const get = <Data>(path: string): Promise<Data> => call(path, {})

/** Posts JSON to an endpoint. Returns the answer's `data`. Throws an ApiFailure if the request fails. */
export const post = <Data>(path: string, body: object, accessToken?: string): Promise<Data> =>
  call(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
    },
    body: JSON.stringify(body),
  })

async function call<Data>(path: string, request: RequestInit): Promise<Data> {
  let response: Response
  let answer: { code?: unknown; data?: unknown }
  try {
    response = await fetch(baseUrl + path, {
      ...request,
      credentials: 'omit',
      signal: AbortSignal.timeout(requestTimeoutMilliseconds),
    })
    answer = (await response.json()) as typeof answer
  } catch {
    // A broken connection, a timeout and an answer that is not JSON share the code 0 and one message.
    throw new ApiFailure(0)
  }
  if (answer.code === 0) return answer.data as Data
  if (typeof answer.code !== 'number') throw gatewayFailure(response)
  throw new ApiFailure(answer.code, {
    fields: invalidFields(answer.data),
    retryAfterSeconds: retryAfterSeconds(response),
    signInTooOld: /insufficient_user_authentication/.test(response.headers.get('www-authenticate') ?? ''),
  })
}

/**
 * Creates the failure for an answer without an envelope, which comes from API Gateway itself. A 429 from API
 * Gateway says that all users together send too many requests, which ends within seconds. So it is treated
 * like a 503. A 429 with an envelope says that this user has tried too often.
 */
function gatewayFailure(response: Response): ApiFailure {
  if (response.status === 429 || response.status === 503)
    return new ApiFailure(50300, { retryAfterSeconds: retryAfterSeconds(response) ?? 5 })
  return new ApiFailure(response.status === 500 ? 50000 : 0)
}

/** Reads the seconds in the header `Retry-After`; undefined if the header is missing or has a date. */
function retryAfterSeconds({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? NaN)
  return Number.isFinite(seconds) ? seconds : undefined
}

function invalidFields(data: unknown): string[] {
  const errors = (data as { errors?: { field: string }[] } | null | undefined)?.errors
  return Array.isArray(errors) ? errors.map(({ field }) => field) : []
}

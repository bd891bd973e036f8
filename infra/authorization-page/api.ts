/** An answer that is not success, or none at all. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** The envelope's code; 0 when there was no answer that could be understood. */
  readonly code: number
  /** Names of the refused fields, for an invalid parameter. */
  readonly fields: string[]
  readonly retryAfterSeconds: number | undefined

  constructor(code: number, options: { fields?: string[]; retryAfterSeconds?: number | undefined } = {}) {
    super(`code ${code}`)
    this.code = code
    this.fields = options.fields ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Longer than any function of the service may run. */
const patienceMilliseconds = 20_000

const baseUrl = document.querySelector<HTMLMetaElement>('meta[name=base-url]')?.content ?? ''

/** Posts JSON to an endpoint and returns the `data` of its envelope; throws `ApiFailure` for everything else. */
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
      signal: AbortSignal.timeout(patienceMilliseconds),
    })
    envelope = (await response.json()) as typeof envelope
  } catch {
    // A broken connection, a time-out and an answer that is no JSON all mean the same to the user: nobody answered.
    throw new ApiFailure(0)
  }
  if (envelope.code === 0) return envelope.data as Data
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN)
  throw new ApiFailure(typeof envelope.code === 'number' ? envelope.code : 0, {
    fields: refusedFields(envelope.data),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}

function refusedFields(data: unknown): string[] {
  const errors = (data as { errors?: { field: string }[] } | null | undefined)?.errors
  return Array.isArray(errors) ? errors.map(({ field }) => field) : []
}

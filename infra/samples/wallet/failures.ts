/** What a failure of the service means to the user of this app, and what the user can do. By its `code`. */
export const explanations: Record<number, string> = {
  0: 'The service cannot be reached. Check your connection, then try again.',
  40000: 'The app sent something that the service could not read. Reload the page and try again.',
  40001: 'Something you entered cannot be used.',
  40002: 'This app is not registered with the service. Tell its makers.',
  40003: 'The sign-in took too long or was already used. Sign in again.',
  40004: 'This app asked for a way to sign in that the service does not offer. Tell its makers.',
  40005: 'This app asked for a permission that does not exist. Tell its makers.',
  40100: 'Your session has ended. Sign in again.',
  40101: 'The email address or the password is wrong.',
  40102: 'The sign-in took too long. Start again.',
  40103: 'The code is wrong or has expired. Ask for a new one.',
  40104: 'The service did not recognize this app. Tell its makers.',
  40300: 'You have not allowed this app to do that. Sign out, sign in again and allow it.',
  40301: 'That belongs to somebody else.',
  40400: 'The service does not know this request. The app may be outdated: reload the page.',
  40401: 'There is no such record.',
  40500: 'The service does not allow this request. The app may be outdated: reload the page.',
  41300: 'What you entered is too long.',
  41500: 'The app sent something in a form that the service does not take. Reload the page and try again.',
  42900: 'That was too often. Wait a little, then try again.',
  50000: 'Something went wrong at the service. Try again; if it stays, tell its makers.',
  50300: 'The service is not available at the moment. Try again in a little while.',
}

interface FailureBody {
  code?: number
  data?: { errors?: { field: string; reason: string }[] } | null
}

/** A failure that the service has answered, in words for the user. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure'
  /** The service's code, or 0 if there was no answer. */
  readonly code: number
  /** Seconds after which the service wants to be asked again, or 0 if asking again is no use. */
  readonly retryAfterSeconds: number

  constructor({ status, headers }: Response, body: unknown) {
    // Answers of the gateway itself have no `code`, only a status.
    const { code = status * 100, data } = (typeof body === 'object' ? (body ?? {}) : {}) as FailureBody
    const reasons = data?.errors?.map(({ field, reason }) => `${field}: ${reason}.`) ?? []
    super([explanations[code] ?? explanations[50000], ...reasons].join(' '))
    this.code = code
    const isTemporary = status === 429 || status === 503
    this.retryAfterSeconds = isTemporary ? Number(headers.get('retry-after')) || 1 : 0
  }
}

/** A failure as AWS spells it: `code` is the exception's name, `status` the HTTP status it travels with. */
export class AwsError extends Error {
  readonly code: string
  readonly status: number
  /** The older name that SQS repeats in `x-amzn-query-error`, for clients that still know only that one. */
  readonly queryCode: string | undefined

  constructor(code: string, message: string, options: { status?: number; queryCode?: string } = {}) {
    super(message)
    this.name = code
    this.code = code
    this.status = options.status ?? 400
    this.queryCode = options.queryCode
  }
}

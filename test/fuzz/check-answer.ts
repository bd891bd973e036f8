import { AnswerCheck, type ApiReference, findOperation, type Operation } from '../support/described-answer.ts'
import type { FuzzedRequest } from './draft.ts'
import { callerOf, findForeign, type Register, whyNot } from './judge-caller.ts'
import { Judge } from './judge-request.ts'
import { markerShape } from './texts.ts'

/** An answer as it was received. */
export interface ReceivedAnswer {
  status: number
  /** Headers by lower-case name. */
  headers: Record<string, string>
  body: string
}

/** Headers that every answer of a function has, and what they are. */
const commonHeaders: Record<string, RegExp> = {
  'x-request-id': /^.+$/,
  'x-content-type-options': /^nosniff$/,
  'strict-transport-security': /^max-age=\d+; includeSubDomains$/,
  'referrer-policy': /^no-referrer$/,
}

/** Every header that an answer may have. */
const allowedHeaders = new Set([
  ...Object.keys(commonHeaders),
  ...['cache-control', 'pragma', 'etag', 'location', 'retry-after', 'allow', 'www-authenticate'],
  ...['content-type', 'content-length', 'content-disposition', 'connection', 'keep-alive', 'date'],
  ...['apigw-requestid', 'access-control-allow-origin', 'access-control-expose-headers'],
])

/** Where redirects lead: to the authorization page, or to a registered redirect URI, all of this machine. */
const loopbackPage = /^http:\/\/127\.0\.0\.1:\d+\/(callback)?\?/

/** Answers that repeat what was sent, as the API reference says: in these headers and members. */
const reflections: Record<string, { headers?: string[]; members?: string[] }> = {
  'GET /oauth2/authorize': { headers: ['location'] },
  'POST /oauth2/authorize/consent': { members: ['state', 'redirect_to'] },
}

/**
 * Reasons of a 40001 that are about more than one value, or about what the service has: a request that the
 * schemas allow may be refused for them.
 */
const semanticReasons = new Set([
  'must not be before beginTime',
  'must not be before beginDate',
  'must be less than 366 days after beginDate',
  'is not offered for this currency',
  'differs from that of the Authorization header',
  'must not be sent beside an Authorization header',
  'none cannot be granted: the user has to sign in',
  'must not hold none beside others',
  'must be 43 to 128 unreserved characters',
  // A client may also name itself in the header Authorization.
  'client_id is required',
])

const pathOf = (target: string): string => target.split('?', 1)[0] ?? ''

interface Envelope {
  code?: number
  msg?: string
  data?: { errors?: { field: string; reason: string }[] } & Record<string, unknown>
  error?: string
  error_description?: string
}

/** Checks the answers to fuzzed requests against the API reference and the contract. */
export class FuzzCheck {
  readonly #reference: ApiReference
  readonly #described: AnswerCheck
  readonly #judge = new Judge()
  readonly #register: Register

  constructor(reference: ApiReference, register: Register = { grants: new Map(), owners: new Map() }) {
    this.#reference = reference
    this.#register = register
    this.#described = new AnswerCheck(reference)
  }

  /** The method and template of the operation that a request is to; undefined for another address. */
  operationOf({ method, target }: FuzzedRequest): string | undefined {
    const found = findOperation(this.#reference, method, pathOf(target))
    return found && `${method} ${found.template}`
  }

  /** What is wrong with an answer; empty if nothing is. */
  problemsOf(request: FuzzedRequest, answer: ReceivedAnswer): string[] {
    const { method, target } = request
    const path = pathOf(target)
    const found = findOperation(this.#reference, method, path)
    const key = this.operationOf(request)
    const { status, headers, body } = answer
    if (method === 'HEAD')
      return [
        ...(body === '' ? [] : ['a HEAD request was answered with a body']),
        ...(status >= 500 ? [`answered ${status}`] : []),
        ...checkHeaders(answer),
      ]
    const json = readJson(answer)
    const envelope = (json ?? {}) as Envelope
    return [
      ...(status >= 500 ? [`answered ${status}`] : []),
      ...checkHeaders(answer),
      ...(json === undefined ? checkPlain(answer) : checkEnvelope(status, envelope)),
      ...checkDialect(key, answer, envelope),
      ...[this.#described.problemOf({ method, path, status, json }) ?? []].flat(),
      ...findReflections(request, { headers, body, envelope, key }),
      ...(found === undefined
        ? [400, 404, 405, 413].includes(status)
          ? []
          : [`an unknown route was answered ${status}`]
        : [
            ...this.#checkJudgement(request, found.operation, answer, envelope),
            ...(isSuccess(answer) ? this.#checkCaller(request, found.operation, answer) : []),
          ]),
    ]
  }

  #checkCaller(request: FuzzedRequest, operation: Operation, { body }: ReceivedAnswer): string[] {
    const [register, key] = [this.#register, this.operationOf(request) ?? '']
    const caller = callerOf(request, register)
    const because = whyNot(operation, caller)
    return [
      ...(because === undefined ? [] : [`it succeeded, though ${because}`]),
      ...findForeign(key, request, { caller, body, register }),
    ]
  }

  #checkJudgement(
    request: FuzzedRequest,
    operation: Operation,
    answer: ReceivedAnswer,
    { code, data }: Envelope,
  ): string[] {
    const { status } = answer
    const judgement = this.#judge.judge(operation, request)
    if (!judgement.allowed)
      return isSuccess(answer)
        ? [`the API reference forbids it (${judgement.because}), but it was answered ${status}`]
        : []
    const errors = data?.errors ?? []
    const semantic =
      code === 40001 &&
      errors.every(
        ({ field, reason }) => semanticReasons.has(reason) || semanticReasons.has(`${field} ${reason}`),
      )
    const malformed = status === 413 || status === 415 || code === 40000 || (code === 40001 && !semantic)
    if (malformed)
      return [`the API reference allows it, but it was refused: ${code ?? status} ${JSON.stringify(errors)}`]
    return []
  }
}

const isErrorRedirect = ({ status, headers }: ReceivedAnswer): boolean =>
  status === 302 && /[?&]error=/.test(headers['location'] ?? '')

/** Whether an answer is none of a failure, neither by its status nor by where it redirects. */
export const isSuccess = (answer: ReceivedAnswer): boolean => answer.status < 400 && !isErrorRedirect(answer)

function readJson({ headers, body }: ReceivedAnswer): unknown {
  if (!/^application\/json(;|$)/.test(headers['content-type'] ?? '')) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return 'no JSON'
  }
}

function checkHeaders({ status, headers }: ReceivedAnswer): string[] {
  const missing = Object.entries(commonHeaders)
    .filter(([name, shape]) => !shape.test(headers[name] ?? ''))
    .map(([name]) => `the header ${name} is missing or wrong`)
  const caching = headers['cache-control'] ?? ''
  const isPublic = caching.startsWith('public, max-age=') && headers['etag'] !== undefined
  const unknown = Object.keys(headers).filter((name) => !allowedHeaders.has(name))
  return [
    ...missing,
    ...unknown.map((name) => `an answer has no header ${name}`),
    ...(caching === 'no-store' || isPublic ? [] : [`cache-control is ${caching}`]),
    ...((status === 429 || status === 503) && !/^[1-9]\d*$/.test(headers['retry-after'] ?? '')
      ? ['Retry-After is missing']
      : []),
    ...(status === 405 && !headers['allow'] ? ['Allow is missing'] : []),
    ...(status === 302 && !loopbackPage.test(headers['location'] ?? '') ? ['Location leads elsewhere'] : []),
  ]
}

/** Answers without an envelope are a redirect, a download, and a copy that is still current. */
const checkPlain = ({ status, headers, body }: ReceivedAnswer): string[] =>
  [302, 304].includes(status) ||
  (status === 200 && headers['content-type']?.startsWith('text/csv') && body.startsWith('\ufeff'))
    ? []
    : ['the answer has no envelope']

function checkEnvelope(status: number, envelope: Envelope): string[] {
  const { code = -1, msg, data, error, error_description: description } = envelope
  if (typeof msg !== 'string' || data === undefined) return ['the answer has no envelope']
  const isRight =
    status === 200
      ? code === 0 && msg === 'success' && error === undefined
      : Math.floor(code / 100) === status || (code === 40104 && status === 400)
  return [
    ...(isRight ? [] : [`the status ${status} does not go with code ${code}`]),
    ...(description === undefined || /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/.test(description)
      ? []
      : ['error_description has other characters than RFC 6749 allows']),
  ]
}

/** Endpoints that standard OAuth clients call: their failures have the members of RFC 6749, too. */
const oauthKeys = /^\w+ \/(oauth2\/(token|revoke|userinfo)|\.well-known\/[\w.-]+)$/

function checkDialect(key = '', { status, headers }: ReceivedAnswer, { code, error }: Envelope): string[] {
  const isOauthFailure = status >= 400 && oauthKeys.test(key)
  const isChallenged =
    !(code === 40100 || code === 40300) || /^Bearer/.test(headers['www-authenticate'] ?? '')
  return [
    ...((error !== undefined) === isOauthFailure ? [] : [`error is ${error ?? 'missing'}`]),
    ...(isChallenged ? [] : ['WWW-Authenticate is missing']),
  ]
}

/**
 * What remains of a redirect's address without what it repeats as the API reference says: to the client with
 * an error its `state` and the names of repeated parameters, to the authorization page the whole query.
 */
function withoutRepeated(location: string): string {
  const [page = '', query = ''] = location.split('?', 2)
  const parameters = new URLSearchParams(query)
  if (!parameters.has('error')) return page
  parameters.delete('state')
  const description = parameters.get('error_description') ?? ''
  if (/^\w{1,40} is repeated$/.test(description)) parameters.delete('error_description')
  return `${page}?${parameters.toString()}`
}

/** Finds markers of a request in its answer, where the API reference does not say that they are repeated. */
function findReflections(
  { method, target, headers, body }: FuzzedRequest,
  answer: Pick<ReceivedAnswer, 'headers' | 'body'> & { envelope: Envelope; key: string | undefined },
): string[] {
  const sent = [method, target, ...headers.flat(), body?.toString() ?? ''].join('\n')
  const markers = new Set(sent.match(markerShape))
  if (markers.size === 0) return []
  const allowed = reflections[answer.key ?? ''] ?? {}
  const received = Object.entries(answer.headers).map(([name, value]) => [
    name,
    allowed.headers?.includes(name) === true ? withoutRepeated(value) : value,
  ])
  // The names of repeated parameters are told, if they are plain words.
  const { errors = [] } = answer.envelope.data ?? {}
  const told = [
    ...errors.filter(({ reason }) => reason === 'is repeated').map(({ field }) => field),
    ...(allowed.members ?? []).map((name) => answer.envelope.data?.[name]),
  ]
  let rest = answer.body
  for (const text of told)
    if (typeof text === 'string') rest = rest.replaceAll(JSON.stringify(text).slice(1, -1), '')
  const all = JSON.stringify([received, rest]).toLowerCase()
  return [...markers].filter((marker) => all.includes(marker)).map((marker) => `the answer repeats ${marker}`)
}

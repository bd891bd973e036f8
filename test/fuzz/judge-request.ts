import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Operation, ReferenceSchema } from '../support/described-answer.ts'
import type { FuzzedRequest } from './draft.ts'

/** Whether the API reference allows a request; if not, why. */
export type Judgement = { allowed: true } | { allowed: false; because: string }

const forbid = (because: string): Judgement => ({ allowed: false, because })

/** Maximum size of a request's body (contract, section 1). */
const maxBodyBytes = 64 * 1024

/** Judges requests by the schemas of the API reference alone: parameters, media type and body. */
export class Judge {
  readonly #ajv = new Ajv2020({ strict: false, formats: { date: isDate } })
  readonly #validators = new Map<ReferenceSchema, ValidateFunction>()

  judge(operation: Operation, { target, headers, body }: FuzzedRequest): Judgement {
    const query = readFields(target.includes('?') ? target.slice(target.indexOf('?') + 1) : '')
    if (query.repeated.length > 0) return forbid('a parameter of the query is repeated')
    for (const { name, required, schema, in: place } of operation.parameters ?? []) {
      const value = query.fields.get(name)
      if (place !== 'query' || (value === undefined && !required)) continue
      if (value === undefined) return forbid(`${name} is missing`)
      if (!this.#matches(schema, value) && !this.#matches(schema, toNumber(value)))
        return forbid(`${name} does not match its schema`)
    }
    if (body !== undefined && body.length > maxBodyBytes) return forbid('the body is too large')
    return operation.requestBody === undefined
      ? { allowed: true }
      : this.#judgeBody(operation.requestBody.content, headers, body)
  }

  #judgeBody(
    content: Record<string, { schema: ReferenceSchema }>,
    headers: FuzzedRequest['headers'],
    body: Buffer | undefined,
  ): Judgement {
    // A header that is sent twice is one with both values, separated by a comma (RFC 9110 §5.3).
    const types = headers.filter(([name]) => name === 'content-type').map(([, value]) => value)
    const type = types.join(',').split(';')[0]?.trim().toLowerCase() ?? ''
    const schema = content[type]?.schema
    if (schema === undefined) return forbid('the media type is none of the operation’s')
    const text = body?.toString() ?? ''
    let value: unknown
    if (type === 'application/json') {
      try {
        value = JSON.parse(text)
      } catch {
        return forbid('the body is no JSON')
      }
    } else {
      const { fields, repeated } = readFields(text)
      if (repeated.length > 0) return forbid('a field is repeated')
      value = Object.fromEntries([...fields].filter(([, field]) => field !== ''))
    }
    return this.#matches(schema, value) ? { allowed: true } : forbid('the body does not match its schema')
  }

  #matches(schema: ReferenceSchema, value: unknown): boolean {
    const validate = this.#validators.get(schema) ?? this.#ajv.compile(schema)
    this.#validators.set(schema, validate)
    return validate(value)
  }
}

function readFields(text: string): { fields: Map<string, string>; repeated: string[] } {
  const pairs = [...new URLSearchParams(text)]
  const fields = new Map(pairs)
  const names = pairs.map(([name]) => name)
  return { fields, repeated: names.filter((name, i) => names.indexOf(name) !== i) }
}

/** The whole number that a text is when it is written as in JSON; else the text itself. */
const toNumber = (text: string): string | number => (/^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : text)

/** The format `date`: full-date of RFC 3339, a day that exists. */
function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return day >= 1 && day <= (lengths[month - 1] ?? 0)
}

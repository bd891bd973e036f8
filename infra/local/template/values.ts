import { StartupError } from '../startup-error.ts'

/** A part of a template: anything that JSON can say. */
export type Properties = Record<string, unknown>

/** Whether a value is a JSON object. */
export const isProperties = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value as an object; an omitted one is empty. `where` names the place in the message of the refusal. */
export function asProperties(value: unknown, where: string): Properties {
  if (value === undefined) return {}
  if (!isProperties(value)) throw new StartupError(`${where} is not an object`)
  return value
}

/** The value as a list; an omitted one is empty. */
export function asList(value: unknown, where: string): unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new StartupError(`${where} is not a list`)
  return value
}

/** The value as text; CloudFormation lets numbers and booleans stand where it wants a string. */
export function asText(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new StartupError(`${where} is not a string`)
}

/** The value as a number, or the default where it is omitted. */
export function asNumber(value: unknown, where: string, byDefault: number): number {
  if (value === undefined) return byDefault
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number))
    throw new StartupError(`${where} is not a number`)
  return number
}

/** The value as a boolean, which CloudFormation also takes as text; an omitted one is false. */
export const asFlag = (value: unknown): boolean => value === true || value === 'true'

/** The value as a list of strings. */
export const asTexts = (value: unknown, where: string): string[] =>
  asList(value, where).map((item) => asText(item, where))

/** `Key`/`Value` tags as an object. */
export function asTags(value: unknown, where: string): Record<string, string> {
  const pairs = asList(value, where).map((tag) => asProperties(tag, where))
  return Object.fromEntries(pairs.map((tag) => [asText(tag.Key, where), asText(tag.Value, where)]))
}

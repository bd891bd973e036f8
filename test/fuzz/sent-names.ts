import type { ApiReference } from '../support/described-answer.ts'
import { type FuzzedRequest, formsOf, listOperations } from './draft.ts'

/** The names of the parameters and members that a request holds. */
export function namesIn({ target, body }: FuzzedRequest): string[] {
  const text = body?.toString() ?? ''
  const query = new URLSearchParams(target.split('?')[1])
  try {
    return [...query.keys(), ...Object.keys(JSON.parse(text) as object)]
  } catch {
    return [...query.keys(), ...new URLSearchParams(text).keys()]
  }
}

/** Which parameters and members of each operation were in requests that succeeded. */
export class SentNames {
  readonly #missing: Map<string, Set<string>>

  constructor(reference: ApiReference) {
    this.#missing = new Map(
      listOperations(reference).map(({ method, template, operation }) => [
        `${method} ${template}`,
        new Set([
          ...(operation.parameters ?? [])
            .filter(({ in: place }) => place === 'query')
            .map(({ name }) => name),
          ...formsOf(operation).flatMap(({ schema }) => Object.keys(schema.properties ?? {})),
        ]),
      ]),
    )
  }

  add(operation: string, names: readonly string[]): void {
    for (const name of names) this.#missing.get(operation)?.delete(name)
  }

  /** Operations with the names that were in no such request. */
  get missing(): [operation: string, names: string[]][] {
    return [...this.#missing]
      .map(([operation, names]): [string, string[]] => [operation, [...names]])
      .filter(([, names]) => names.length > 0)
  }
}

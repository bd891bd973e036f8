import type { ApiReference } from '../support/described-answer.ts'
import { Random } from '../support/random.ts'
import type { Actors } from './actors.ts'
import {
  type Draft,
  encodeText,
  type Form,
  formsOf,
  type FuzzedRequest,
  type ListedOperation,
  listOperations,
  write,
} from './draft.ts'
import { knownValues, toJsonText, together } from './known-values.ts'
import { mutationsOf } from './mutations.ts'
import { listSweep, type SweepCase } from './sweep.ts'
import { drawText } from './texts.ts'

/** Chooses the value of a parameter or member; undefined leaves an optional one out. */
type Choice = (name: string, required: boolean) => string | undefined

/** Draws requests to every operation of the API reference. */
export class RequestSource {
  readonly #operations: ListedOperation[]
  readonly #actors: Actors
  readonly #known: Record<string, readonly string[]>
  readonly #sweep: SweepCase[]

  constructor(reference: ApiReference, actors: Actors) {
    this.#operations = listOperations(reference)
    this.#actors = actors
    this.#known = knownValues(actors)
    this.#sweep = listSweep(reference, this.#known, actors)
  }

  /** How many of the first requests change one thing each of a good one: the same with every seed. */
  get sweepSize(): number {
    return this.#sweep.length
  }

  /** Whether the request with this number is a good one, which must succeed. */
  isGood(number: number): boolean {
    const one = this.#sweep[number]
    return one !== undefined && one.change === undefined
  }

  /** Draws the request with this number; the same seed and number always give the same one. */
  draw(seed: string, number: number): FuzzedRequest {
    const random = new Random(`${seed} ${number}`)
    const one = this.#sweep[number]
    if (one !== undefined) {
      const draft = this.#goodBase(one)
      one.change?.(draft, random, this.#actors)
      return write(draft)
    }
    const draft = this.#drawBase(random)
    const changes = random.pick([0, 0, 0, 1, 1, 1, 1, 2, 2, 4])
    for (let i = 0; i < changes; i += 1) random.pick(mutationsOf(draft))(draft, random, this.#actors)
    return write(draft)
  }

  /** A request that shall succeed, with every parameter and member that there is. */
  #goodBase({ operation, form }: SweepCase): Draft {
    const fitting = together[`${operation.method} ${operation.template}`]?.(this.#actors) ?? {}
    const choose: Choice = (name) => fitting[name] ?? this.#valuesOf(name)[0] ?? ''
    return this.#draft(operation, form, choose, this.#actors.callers[0] ?? '')
  }

  #drawBase(random: Random): Draft {
    const listed = random.pick(this.#operations)
    const { method, template, operation } = listed
    const fitting = random.happens(0.6) ? (together[`${method} ${template}`]?.(this.#actors) ?? {}) : {}
    const choose: Choice = (name, required) => {
      if (!(required || name in fitting || random.happens(0.5))) return undefined
      return fitting[name] ?? (random.happens(0.97) ? random.pick(this.#valuesOf(name)) : drawText(random))
    }
    const form = random.pick(formsOf(operation))
    const caller = random.pick(random.happens(0.9) ? this.#actors.callers : this.#actors.strangers)
    return this.#draft(listed, form, choose, caller, random)
  }

  /** Real values of a parameter or member; throws if a new one has none in known-values.ts. */
  #valuesOf(name: string): readonly string[] {
    const values = this.#known[name]
    if (values === undefined) throw new Error(`known-values.ts has no value of ${name}`)
    return values
  }

  #draft(
    { method, template, operation }: ListedOperation,
    { type, isForm, schema }: Form,
    choose: Choice,
    caller: string,
    random?: Random,
  ): Draft {
    const { parameters = [], security = [] } = operation
    const { properties = {}, required = [] } = schema
    const authorization = template === '/user/logout' ? 'Bearer ZZsessionZZ' : caller
    const members = Object.entries(properties).flatMap(([name, { const: only }]): [string, string][] => {
      const value = choose(name, required.includes(name))
      return value === undefined ? [] : [[name, toJsonText(name, only ?? value, random)]]
    })
    return {
      method,
      path: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeText(choose(name, true) ?? '')),
      query: parameters
        .filter((parameter) => parameter.in === 'query')
        .flatMap((parameter): [string, string][] => {
          const value = choose(parameter.name, parameter.required)
          return value === undefined ? [] : [[parameter.name, encodeText(value)]]
        }),
      headers: [
        ...(security.length > 0 ? [['authorization', authorization] as [string, string]] : []),
        ...(type === undefined ? [] : [['content-type', type] as [string, string]]),
      ],
      members: type === undefined ? undefined : members,
      isForm,
      rewrites: [],
    }
  }
}

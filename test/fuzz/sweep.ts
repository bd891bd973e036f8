import type { ApiReference } from '../support/described-answer.ts'
import type { Actors } from './actors.ts'
import { type Change, encodeText, type Form, formsOf, type ListedOperation, listOperations } from './draft.ts'
import { findLimits } from './limits.ts'
import { inHeaders, ofBody, setHeader } from './mutations.ts'
import { drawMarker } from './texts.ts'

/** One change of a request that is good otherwise. */
export interface SweepCase {
  operation: ListedOperation
  form: Form
  /** The change; undefined for a request that stays good, and must succeed. */
  change: Change | undefined
}

type Known = Record<string, readonly string[]>

/**
 * Every single change that is not left to chance: each limit of each parameter and member, each wrong type,
 * each missing and repeated one; for each operation each trick with headers and the body, and each caller,
 * with those who are not let in.
 */
export function listSweep(
  reference: ApiReference,
  known: Known,
  { callers, strangers, tokens: [usualToken = ''] }: Actors,
): SweepCase[] {
  return listOperations(reference).flatMap((operation) => {
    const forms = formsOf(operation.operation)
    const [first] = forms
    if (first === undefined) return []
    const isSignedIn = (operation.operation.security ?? []).length > 0
    // The session that makes the good requests must not be ended.
    const isHarmless = (value: string) => operation.template !== '/user/logout' || !value.includes(usualToken)
    const changes = [
      ...changesOfParameters(operation, known),
      ...inHeaders,
      ...(isSignedIn
        ? [...new Set(callers), ...strangers].filter(isHarmless).map(
            (value): Change =>
              (draft) =>
                setHeader(draft, 'authorization', value),
          )
        : []),
      ...(first.type === undefined ? [] : ofBody),
    ]
    const unchanged = { operation, form: first, change: undefined }
    return [
      unchanged,
      ...changes.map((change) => ({ operation, form: first, change })),
      ...forms.flatMap((form) =>
        changesOfMembers(form, known).map((change) => ({ operation, form, change })),
      ),
      unchanged,
    ]
  })
}

/** A value that a parameter usually has, and that is not empty. */
const usual = (known: Known, name: string): string => known[name]?.find((value) => value !== '') ?? 'x'

/** Texts that no schema mentions. */
const disguise = (text: string): string[] => ['', ` ${text}`, `${text}\u0000`, `${text}\ud800`]

/** Values of other types than a member has. */
const wrongTypes = (text: string): string[] => ['null', 'true', '0', '{}', `[${JSON.stringify(text)}]`]

function changesOfParameters({ operation }: ListedOperation, known: Known): Change[] {
  return (operation.parameters ?? []).flatMap(({ name, in: place, schema }): Change[] => {
    const text = usual(known, name)
    const { numbers, texts } = findLimits(schema, text)
    const values = [...numbers.map(String), ...texts, ...disguise(text)].map(encodeText)
    if (place === 'path')
      return values.map((value) => (draft) => (draft.path = draft.path.replace(/[^/]*$/, value)))
    const at = (query: [string, string][]) => query.findIndex(([other]) => other === name)
    return [
      ...values.map(
        (value): Change =>
          ({ query }) =>
            query.splice(at(query), 1, [name, value]),
      ),
      ({ query }, random) => query.splice(at(query), 1, [name, drawMarker(random)]),
      ({ query }) => query.splice(at(query), 1),
      ({ query }) => query.push([name, encodeText(text)]),
    ]
  })
}

function changesOfMembers({ schema, isForm }: Form, known: Known): Change[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]): Change[] => {
    const text = usual(known, name)
    const { numbers, texts } = findLimits(property, text)
    const values = [
      ...numbers.flatMap((number) => [String(number), `"${number}"`]),
      ...[...texts, ...disguise(text)].map((value) => JSON.stringify(value)),
      ...(isForm ? [] : wrongTypes(text)),
    ]
    const at = (members: [string, string][]) => members.findIndex(([other]) => other === name)
    return [
      ...values.map(
        (value): Change =>
          ({ members = [] }) =>
            members.splice(at(members), 1, [name, value]),
      ),
      ({ members = [] }, random) => members.splice(at(members), 1, [name, `"${drawMarker(random)}"`]),
      ({ members = [] }) => members.splice(at(members), 1),
      ({ members = [] }) => members.push([name, JSON.stringify(text)]),
    ]
  })
}

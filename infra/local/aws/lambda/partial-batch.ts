import * as v from 'valibot'

const BatchResponse = v.object({
  batchItemFailures: v.optional(
    v.nullable(v.array(v.object({ itemIdentifier: v.pipe(v.string(), v.minLength(1)) }))),
  ),
})

/**
 * Which messages a function says it failed on, by id: `all` if its answer names an unknown id or is not of the form that
 * Lambda takes; none if it is empty or null.
 */
export function readBatchFailures(
  payload: Uint8Array,
  ids: ReadonlySet<string>,
): 'all' | ReadonlySet<string> {
  let answer: unknown
  try {
    const text = Buffer.from(payload).toString()
    answer = text === '' ? null : JSON.parse(text)
  } catch {
    // Lambda treats an answer that it cannot read like an error of the function.
    return 'all'
  }
  if (answer === null) return new Set()
  const parsed = v.safeParse(BatchResponse, answer)
  if (!parsed.success) return 'all'
  const failed = (parsed.output.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier)
  return failed.every((id) => ids.has(id)) ? new Set(failed) : 'all'
}

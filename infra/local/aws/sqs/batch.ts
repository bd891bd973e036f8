import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'

/** The id of an entry inside a batch. */
export const BatchEntryId = v.pipe(v.string(), v.regex(/^[\w-]{1,80}$/))

const prefix = 'AWS.SimpleQueueService.'

/** Refuses a batch that SQS refuses as a whole: empty, of more than ten, or with an id twice. */
export function checkBatch(entries: { Id: string }[]): void {
  const refuse = (code: string, message: string) => {
    throw new AwsError(code, message, { queryCode: prefix + code })
  }
  if (entries.length === 0) refuse('EmptyBatchRequest', 'There should be at least one entry in the request.')
  if (entries.length > 10)
    refuse(
      'TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are 10. You have sent ${entries.length}.`,
    )
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length)
    refuse('BatchEntryIdsNotDistinct', 'Two or more batch entries in the request have the same Id.')
}

/** Runs each entry by itself; the ones that fail are listed, the others stand. */
export function runBatch<Entry extends { Id: string }>(
  entries: Entry[],
  run: (entry: Entry) => Record<string, unknown>,
): Record<string, unknown> {
  const successful: unknown[] = []
  const failed: unknown[] = []
  for (const entry of entries) {
    try {
      successful.push({ Id: entry.Id, ...run(entry) })
    } catch (error) {
      if (!(error instanceof AwsError)) throw error
      failed.push({ Id: entry.Id, SenderFault: true, Code: error.code, Message: error.message })
    }
  }
  return { Successful: successful, ...(failed.length > 0 ? { Failed: failed } : {}) }
}

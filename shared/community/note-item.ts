import * as v from 'valibot'
import type { Key } from '../db/table.ts'

/** Key of the note of a member on one of their direct referrals. */
export const noteKey = (authorId: number, targetId: number): Key => ({
  pk: `NOTE#${authorId}`,
  sk: String(targetId),
})

const NoteItem = v.object({ note: v.string() })

/** The text of a note, empty where there is none. */
export const toNote = (item: Record<string, unknown> | undefined): string =>
  item === undefined ? '' : v.parse(NoteItem, item).note

import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import type { Item, Key } from '../db/table.ts'
import { writeItem } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { countCharacters, TypedText } from '../fields.ts'

const maxNoteLength = 20

/** Schema of a note: trimmed; an empty text clears the note. Its length is counted in Unicode code points. */
export const Note = v.pipe(
  TypedText,
  v.trim(),
  // The rest in words, because no pattern that means the same in all languages can say it.
  v.metadata({ maxLength: maxNoteLength, pattern: String.raw`^[^\x00-\x1f\x7f]*$` }),
  v.description(
    `At most ${maxNoteLength} characters (Unicode code points, trimmed and in normalization form C), without control, zero-width or bidi characters.`,
  ),
  v.check((note) => countCharacters(note) <= maxNoteLength, `must have at most ${maxNoteLength} characters`),
)

const notes = itemType({
  pk: 'NOTE#{authorId}',
  sk: '{targetId}',
  holds: 'the note of a member on one of their direct referrals',
  found: 'by author and direct referral',
})

/** Key of the item that holds an author's note on a direct referral. */
export const noteKey = (authorId: number, targetId: number): Key => notes.key({ authorId, targetId })

const NoteItem = v.object({ note: v.string() })
/** Parses a note from its item; empty if there is no item. */
export const toNote = (item: Item | undefined): string =>
  item === undefined ? '' : v.parse(NoteItem, item).note

interface Referral {
  userId: number
  upline: readonly number[]
}

/**
 * Sets or clears an author's note on one of their direct referrals. Throws `forbidden` for any other target.
 * `target` may come from an earlier read, because a member's referrer never changes.
 */
export async function setNote(authorId: number, target: Referral | undefined, note: string): Promise<void> {
  if (target?.upline[0] !== authorId) throw new Failure('forbidden')
  const key = noteKey(authorId, target.userId)
  await writeItem(note === '' ? { Delete: { Key: key } } : { Put: { Item: { ...key, note } } })
}

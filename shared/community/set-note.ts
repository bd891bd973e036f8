import * as v from 'valibot'
import { Failure } from '../errors.ts'
import { noteKey } from './note-item.ts'
import type { Profile } from './profile.ts'
import { writeItem } from '../db/write.ts'

/** Most Unicode code points of a note. */
const longestNote = 20

/** A note, trimmed; empty to clear it. */
export const Note = v.pipe(
  v.string(),
  v.trim(),
  v.check((note) => Array.from(note).length <= longestNote, `must have at most ${longestNote} characters`),
  v.check((note) => note.isWellFormed(), 'must be Unicode text'),
)

/**
 * Sets an author's note on one of their direct referrals, or clears it. Throws `forbidden` where the target, whose profile
 * is given, is none. Who referred whom never changes, so what was read a moment ago still holds.
 */
export async function setNote(authorId: number, target: Profile | undefined, note: string): Promise<void> {
  if (target?.upline[0] !== authorId) throw new Failure('forbidden')
  const key = noteKey(authorId, target.userId)
  await writeItem(note === '' ? { Delete: { Key: key } } : { Put: { Item: { ...key, note } } })
}

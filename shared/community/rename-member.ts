import type { Write } from '../db/write.ts'
import { OutOfOrderEvent } from '../events/rejected-event.ts'
import { type Chunk, chunkKey, putTexts, searchText, unpackChunk } from './directory.ts'
import { setNames } from './profile.ts'
import { readProfile } from './read-profile.ts'
import { readItem } from '../db/read.ts'

/**
 * The community's part of a change of nickname or email, for the change's own transaction: the profile, and with it
 * the one chunk that keywords are looked up in, so that the new name is found at once.
 *
 * The writes hold only for the profile and the chunk as they were just read: when one of their conditions fails, one of
 * them has been changed meanwhile, and the whole is to be made again. Nothing is written where nothing changes.
 */
export async function renameMember(
  userId: number,
  changes: { nickname?: string | undefined; email?: string | undefined },
): Promise<Write[]> {
  const profile = await readProfile(userId)
  if (profile === undefined) throw new OutOfOrderEvent('unknown_user')
  const nickname = changes.nickname ?? profile.nickname
  const email = changes.email ?? profile.email
  if (nickname === profile.nickname && email === profile.email) return []
  const rename = setNames(profile, nickname, email)
  if (profile.chunk === undefined) return [rename]
  const chunk = await readChunk(profile.rootId, profile.chunk)
  const text = new Map([[userId, searchText(nickname, email)]])
  return [rename, putTexts(profile.rootId, profile.chunk, chunk, text)]
}

async function readChunk(rootId: number, number: number): Promise<Chunk> {
  const item = await readItem(chunkKey(rootId, number), { consistent: true })
  return unpackChunk(item)
}

import { type Key, tableName } from '../db/table.ts'
import type { TransactItem } from '../db/transact.ts'

/**
 * The directory of a tree: the search texts of its members, in chunks of a few dozen, so that a keyword reads 1/64 of the
 * items that profiles would be. A member's text stands in one chunk only, whoever their ancestors are, so that a
 * renamed member costs one profile and one chunk.
 */
export const chunkSize = 64

/** Key of a chunk. Each has a partition of its own: a search reads thousands of them at once. */
export const chunkKey = (rootId: number, chunk: number): Key => ({
  pk: `TEXT#${rootId}#${chunk}`,
  sk: 'TEXT',
})

/** Attribute of a chunk that holds a member's text. */
const textAttribute = (userId: number): string => `m${userId}`

/** What a keyword is looked for in. No email holds the separator, so the last one parts the two. */
const separator = '\u0000'
export const searchText = (nickname: string, email: string): string =>
  nickname.toLowerCase() + separator + email.toLowerCase()

/** The write that puts members' texts into a chunk, in place of those before. */
export function putTexts(rootId: number, chunk: number, texts: ReadonlyMap<number, string>): TransactItem {
  const members = [...texts]
  return {
    Update: {
      TableName: tableName(),
      Key: chunkKey(rootId, chunk),
      UpdateExpression: `SET ${members.map((_, i) => `#m${i} = :m${i}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(
        members.map(([userId], i) => [`#m${i}`, textAttribute(userId)]),
      ),
      ExpressionAttributeValues: Object.fromEntries(members.map(([, text], i) => [`:m${i}`, text])),
    },
  }
}

/** Item of a whole chunk. */
export const chunkItem = (rootId: number, chunk: number, texts: ReadonlyMap<number, string>) => ({
  ...chunkKey(rootId, chunk),
  ...Object.fromEntries([...texts].map(([userId, text]) => [textAttribute(userId), text])),
})

/** The text of a member in a chunk, as far as it is there. */
export function textIn(chunk: Record<string, unknown> | undefined, userId: number): string | undefined {
  const text = chunk?.[textAttribute(userId)]
  return typeof text === 'string' ? text : undefined
}

/** Whether a lower-cased keyword stands in the nickname or in the email of a text, not across both. */
export function matchesKeyword(text: string, keyword: string): boolean {
  if (!text.includes(keyword)) return false
  const end = text.lastIndexOf(separator)
  return text.slice(0, end).includes(keyword) || text.slice(end + separator.length).includes(keyword)
}

/** Writes a user id into an opaque token or ticket, in base 36. */
export const encodeUserId = (userId: number): string => userId.toString(36)

/** Reads a user id that encodeUserId has written; undefined for any other text. */
export function decodeUserId(digits: string | undefined): number | undefined {
  const userId = digits === undefined ? Number.NaN : Number.parseInt(digits, 36)
  return Number.isSafeInteger(userId) && encodeUserId(userId) === digits ? userId : undefined
}

/** Maximum depth of an event's JSON. The deepest event that a schema describes has four levels. */
export const maxDepth = 32

/** Maximum number of values in an event's JSON. An event full of deposit addresses has about half as many. */
export const maxValues = 50_000

/**
 * Whether JSON text is nested deeper, or has more values, than any event needs. Check this before parsing:
 * later code could overflow the stack, and the event would be retried, not rejected.
 */
export function isTooComplex(json: string): boolean {
  let depth = 0
  let values = 1
  let inText = false
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at]
    if (inText) {
      if (character === '\\') at += 1
      else if (character === '"') inText = false
    } else if (character === '"') inText = true
    else if (character === ',') values += 1
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth > maxDepth || values > maxValues) return true
  }
  return false
}

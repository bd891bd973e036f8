/** Name of the property by which an amount tells its digits. */
export const exactDigits = Symbol('exact digits')

/** Formats JSON text in which every amount is a number with all its digits, never through a double. */
export const stringifyExact = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key, converted: unknown) {
    const digits = (this[key] as { [exactDigits]?: string } | null | undefined)?.[exactDigits]
    return digits === undefined ? converted : JSON.rawJSON(digits)
  })

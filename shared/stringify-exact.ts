/** Key of the property that holds all digits of an amount, as text. Every amount has it. */
export const exactDigits = Symbol('exact digits')

/** Formats a value as JSON in which every amount is a number with all its digits, not rounded to a double. */
export const stringifyExact = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key, converted: unknown) {
    const digits = (this[key] as { [exactDigits]?: string } | null | undefined)?.[exactDigits]
    return digits === undefined ? converted : JSON.rawJSON(digits)
  })

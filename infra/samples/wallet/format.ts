import Big from 'big.js'

/** An exact amount: a number if a double holds all its digits, and otherwise its text. */
export type Amount = number | string

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 100 })
const instants = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Adds amounts without losing a digit. */
export const sum = (amounts: Amount[]): string =>
  amounts.reduce<Big>((total, amount) => total.plus(amount), new Big(0)).toFixed()

/** The parts of an amount in the user's own notation. Has all digits: `Intl` reads decimal text exactly. */
export const formatAmount = (amount: Amount): Intl.NumberFormatPart[] =>
  numbers.formatToParts(new Big(amount).toFixed() as Intl.StringNumericLiteral)

/** Shows a number of things. */
export const showCount = (count: number): string => numbers.format(count)

/** Shows an instant (epoch milliseconds) in the user's time zone. */
export const showInstant = (instant: number): string => instants.format(instant)

/** Shows the day of an instant (epoch milliseconds) in the user's time zone. */
export const showDay = (instant: number): string => days.format(instant)

/** Shows a date of the form yyyy-MM-dd. */
export const showDate = (date: string): string => dates.format(Date.parse(date))

/** Turns a name of the service, such as `PACKAGE_PURCHASE`, into words: Package purchase. */
export function showName(name: string): string {
  const words = name.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

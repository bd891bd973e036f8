import * as v from 'valibot'
import { Big, zero } from '../money.ts'
import { Decimal, toNumberValue } from './decimal.ts'
import { Integer, type Item, type Key } from './table.ts'
import type { Write } from './write.ts'

/** Number of decimal places of an exact sum. Its fraction is stored as a whole number of units of 10^-18. */
const places = 18
const fractionUnit = new Big(`1e-${places}`)
const unitsPerOne = new Big(`1e${places}`)

/** Name of the attribute that holds the fractional part of an exact sum. */
export const fractionOf = (attribute: string): string => `~${attribute}`

/**
 * The write that adds amounts to exact sums in attributes of an item. DynamoDB does the addition, so nothing
 * is read first.
 *
 * A DynamoDB number has 38 digits. A sum of amounts with 20 digits before and 18 after the point can need
 * more. So a sum is stored in two attributes, its whole part and its fraction in units of 10^-18, which
 * together are exact for 10^17 additions. Amounts with more than 18 decimal places are rounded half to even.
 *
 * With `moment` the write also notes what it adds, so that undoAdditions can take it back.
 */
export function addToSums(
  key: Key,
  sums: ReadonlyMap<string, Big>,
  counts: ReadonlyMap<string, number> = new Map(),
  moment?: Moment,
): Required<Pick<Write, 'Update'>> {
  const added: Record<string, unknown> = {}
  const add = (attribute: string, value: unknown) => {
    added[attribute] = value
  }
  for (const [attribute, amount] of sums) {
    const { whole, fraction } = split(amount)
    add(attribute, toNumberValue(whole))
    if (!fraction.eq('0')) add(fractionOf(attribute), toNumberValue(fraction))
  }
  for (const [attribute, count] of counts) add(attribute, count)
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const clauses = Object.entries(added).map(([attribute, value], i) => {
    names[`#a${i}`] = attribute
    values[`:a${i}`] = value
    return `#a${i} :a${i}`
  })
  const noting = moment === undefined ? '' : note(added, moment, names, values)
  return {
    Update: {
      Key: key,
      UpdateExpression: `ADD ${clauses.join(', ')}${noting}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    },
  }
}

/** The two stored parts of an amount. */
function split(amount: Big): { whole: Big; fraction: Big } {
  const rounded = amount.round(places, Big.roundHalfEven)
  const whole = rounded.round(0, Big.roundDown)
  return { whole, fraction: rounded.minus(whole).times(unitsPerOne) }
}

/** An item with this amount as one of its exact sums. */
export function withSum(item: Item, attribute: string, amount: Big): Item {
  const { whole, fraction } = split(amount)
  const stored = fraction.eq('0') ? undefined : toNumberValue(fraction)
  return { ...item, [attribute]: toNumberValue(whole), [fractionOf(attribute)]: stored }
}

/** When an addition is made, and the item as read a moment before; undefined if there was none. */
export interface Moment {
  /** Instant of the transaction, epoch milliseconds. */
  at: number
  stored: Item | undefined
}

const notePrefix = '+'

/** How long an item notes what was added: notes older than its newest addition by this are dropped. */
export const notesKeptMilliseconds = 120_000

/** Maximum number of notes, which keeps an item with many additions in two minutes under 12 KB. */
const maxNotes = 100

const instantOfNote = (name: string): number => Number(name.slice(notePrefix.length).split('#')[0])

/** The names of an item's notes, oldest first. */
const notesOf = (item: Item): string[] =>
  Object.keys(item)
    .filter((name) => name.startsWith(notePrefix))
    .sort((one, other) => instantOfNote(one) - instantOfNote(other))

/** The clauses that note an addition, and drop the notes that are old or too many. */
function note(
  added: Record<string, unknown>,
  { at, stored = {} }: Moment,
  names: Record<string, string>,
  values: Record<string, unknown>,
): string {
  const notes = notesOf(stored)
  const dropped = notes.filter(
    (name, i) => instantOfNote(name) < at - notesKeptMilliseconds || notes.length - i >= maxNotes,
  )
  names['#note'] = `${notePrefix}${at}#${crypto.randomUUID().slice(0, 8)}`
  values[':note'] = added
  values[':at'] = at
  dropped.forEach((name, i) => {
    names[`#d${i}`] = name
  })
  const removal = dropped.length === 0 ? '' : ` REMOVE ${dropped.map((_, i) => `#d${i}`).join(', ')}`
  return ` SET #note = :note, changed_at = :at${removal}`
}

/** The instants of all additions that an item notes, epoch milliseconds. */
export const notedInstants = (item: Item): number[] => notesOf(item).map(instantOfNote)

/** Error: an item cannot be taken back so far, because its notes do not reach to that instant. */
export class NotesTooShort extends Error {
  override readonly name = 'NotesTooShort'
}

/**
 * An item of sums without what was added at an instant (epoch milliseconds) or later: the same item if that
 * is nothing. A sum that is zero then is left out. Throws NotesTooShort for an instant that is more than two
 * minutes, or a hundred additions, before the item's newest addition.
 */
export function undoAdditions(item: Item, since: number): Item {
  const changedAt = item['changed_at'] === undefined ? 0 : v.parse(Integer, item['changed_at'])
  if (changedAt < since) return item
  const undone = notesOf(item).filter((name) => instantOfNote(name) >= since)
  const tooEarly = since < changedAt - notesKeptMilliseconds || undone.length >= maxNotes
  if (tooEarly) throw new NotesTooShort('the notes of this item do not reach back to that instant')
  const rest = new Map<string, unknown>(Object.entries({ ...item, changed_at: since - 1 }))
  const sums = new Map<string, Big>()
  for (const name of undone) {
    rest.delete(name)
    for (const [attribute, value] of Object.entries(v.parse(Note, item[name])))
      sums.set(attribute, (sums.get(attribute) ?? storedPart(item, attribute)).minus(value))
  }
  // Only now: a sum that is zero on the way back may be none at its end.
  for (const [attribute, sum] of sums)
    if (sum.eq('0')) rest.delete(attribute)
    else rest.set(attribute, toNumberValue(sum))
  return Object.fromEntries(rest)
}

const Note = v.record(v.string(), Decimal)

/** Reads the exact sum stored under an attribute of an item; zero when there is none. */
export function readSum(item: Record<string, unknown> | undefined, attribute: string): Big {
  return storedPart(item, attribute).plus(storedPart(item, fractionOf(attribute)).times(fractionUnit))
}

const storedPart = (item: Record<string, unknown> | undefined, attribute: string): Big =>
  item?.[attribute] === undefined ? zero : v.parse(Decimal, item[attribute])

import { type Value, validationError } from './values.ts'

/** The names and values of an expression's placeholders. */
export interface Placeholders {
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Record<string, Value>
}

const token = /\s*(#\w+|:\w+|[A-Za-z_]\w*|\d+|<>|<=|>=|[-+=<>(),.[\]])/y

/** Caches the tokens of expressions, because most expressions are used repeatedly. */
const known = new Map<string, readonly string[]>()

function split(expression: string): readonly string[] {
  const words: string[] = []
  const text = expression.trimEnd()
  for (token.lastIndex = 0; token.lastIndex < text.length;) {
    const found = token.exec(text)?.[1]
    if (found === undefined) throw validationError(`an expression cannot be read: ${expression}`)
    words.push(found)
  }
  known.set(expression, words)
  return words
}

/** The tokens of an expression, which a parser takes one after the other. */
export class Tokens {
  readonly #all: readonly string[]
  readonly #placeholders: Placeholders
  #next = 0

  constructor(expression: string, placeholders: Placeholders) {
    this.#placeholders = placeholders
    this.#all = known.get(expression) ?? split(expression)
  }

  /** The next token in upper case, for comparison with keywords; empty at the end of the expression. */
  get keyword(): string {
    return this.#all[this.#next]?.toUpperCase() ?? ''
  }

  /** Takes the next token if it is `word`. Returns whether it is. */
  takes(word: string): boolean {
    if (this.keyword !== word.toUpperCase()) return false
    this.#next += 1
    return true
  }

  /** Takes the next token, which must be `word`; otherwise throws. */
  expect(word: string): void {
    if (!this.takes(word)) throw validationError(`an expression has ${this.keyword} instead of ${word}`)
  }

  take(): string {
    const word = this.#all[this.#next]
    if (word === undefined) throw validationError('an expression ends too early')
    this.#next += 1
    return word
  }

  /** Parses the path of an attribute, such as `a.b.c`. */
  takePath(): string[] {
    const path = [this.#name()]
    while (this.takes('.')) path.push(this.#name())
    return path
  }

  /** Takes a placeholder such as `:a`, and returns its value. */
  takeValue(): Value {
    const placeholder = this.take()
    const value = this.#placeholders.ExpressionAttributeValues?.[placeholder]
    if (value === undefined) throw validationError(`an expression has no value for ${placeholder}`)
    return value
  }

  #name(): string {
    const word = this.take()
    if (!word.startsWith('#')) return word
    const name = this.#placeholders.ExpressionAttributeNames?.[word]
    if (name === undefined) throw validationError(`an expression has no name for ${word}`)
    return name
  }
}

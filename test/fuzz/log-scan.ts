import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { markerShape } from './texts.ts'

/** Members of requests that are secrets: a log line with one holds a body. */
const secretNames = [
  ...['login_password', 'validate_code', 'authenticator_code', 'login_ticket', 'access_token'],
  ...['code_verifier', 'client_secret'],
]

/**
 * What no log line may hold: what was sent under a marker, addresses, access_tokens, login tickets, device
 * tokens, passwords, credentials of clients, and secrets by their names.
 */
const forbidden = new RegExp(
  [
    markerShape.source,
    String.raw`@fuzz\.example|@example\.com`,
    String.raw`\bat_[0-9a-z]+\.[\w-]{22}\.`,
    String.raw`\blt_[0-9a-z]+\.[\w-]{43}`,
    String.raw`\beyJ[\w-]+\.`,
    '9cc2ae8a1ba7a93da39b46fc1019c481',
    String.raw`\bBasic [\w+/=%-]{4,}`,
    String.raw`\b(${secretNames.join('|')})(\\*"\s*:|=)`,
  ].join('|'),
  'i',
)

/** Reads what functions have logged since the last time, and finds lines that hold what no line may. */
export class LogScan {
  readonly #file: string
  #descriptor: number | undefined
  #read = 0
  #rest = ''
  lines = 0

  constructor(file: string) {
    this.#file = file
  }

  /** The lines since the last time that hold a secret or what was sent. */
  next(): string[] {
    if (!existsSync(this.#file)) return []
    this.#descriptor ??= openSync(this.#file, 'r')
    const found = this.#readOn(this.#descriptor)
    // The file was renamed when it was full, and another one begins.
    const current = openSync(this.#file, 'r')
    if (fstatSync(current).ino === fstatSync(this.#descriptor).ino) {
      closeSync(current)
      return found
    }
    found.push(...this.#readOn(this.#descriptor))
    closeSync(this.#descriptor)
    this.#descriptor = current
    this.#read = 0
    return [...found, ...this.#readOn(current)]
  }

  #readOn(descriptor: number): string[] {
    const buffer = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - this.#read))
    const bytes = readSync(descriptor, buffer, 0, buffer.length, this.#read)
    this.#read += bytes
    const lines = (this.#rest + buffer.toString('utf8', 0, bytes)).split('\n')
    this.#rest = lines.pop() ?? ''
    this.lines += lines.length
    return lines.filter((line) => forbidden.test(line))
  }
}

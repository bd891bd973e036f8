/** What an argon2id hash was made with, and the hash. */
export interface PasswordHash {
  /** KiB. */
  memory: number
  passes: number
  parallelism: number
  salt: Buffer
  hash: Buffer
}

const shape = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** A hash as one line of text in the PHC string format. */
export function formatPhc({ memory, passes, parallelism, salt, hash }: PasswordHash): string {
  const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`
}

/** Reads what formatPhc wrote; throws, quoting nothing, on anything else. */
export function parsePhc(text: string): PasswordHash {
  const [, memory, passes, parallelism, salt, hash] = shape.exec(text) ?? []
  if (salt === undefined || hash === undefined) throw new Error('a stored password hash is not readable')
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

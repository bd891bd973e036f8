import { createHash } from 'node:crypto'

const firstNames = (
  'James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Susan Joseph Jessica Thomas ' +
  'Wei Fang Min Jing Li Na Ahmed Fatima Carlos Maria Jose Ana Luis Sofia Yuki Haruto Sakura Ivan Olga Dmitri ' +
  'Elena Peter Heike Pierre Camille Emma Olivia Noah Liam'
).split(' ')
const syllables = (
  'ka ro mi ta ne lo shi va du pe gar son ber lin man stein ov sky ez ia wan ng tran le fer gus chen hu zu pol ' +
  'qua rix tor'
).split(' ')
const domains = ['example.com', 'mail.test', 'post.example', 'inbox.example', 'web.example', 'brief.example']

/**
 * Invents a nickname and an email address, always the same for the same number. They are about as varied as
 * real ones, because data that compresses too well would make a search look cheap. About half of the
 * addresses are at example.com.
 */
export function inventPerson(number: number): { nickname: string; email: string } {
  const random = createHash('sha256').update(String(number)).digest()
  const pick = (i: number, from: readonly string[]) => from[(random[i] ?? 0) % from.length] ?? ''
  const first = pick(0, firstNames)
  const last = [1, 2, 3].map((i) => pick(i, syllables)).join('')
  const digits = random.readUInt16BE(4) % 1_000
  const nickname = [`${first} ${last}`, `${first}${digits}`, `${last} ${first}`, first][(random[6] ?? 0) % 4]
  const domain =
    (random[7] ?? 0) % 14 === 0
      ? `${last}.example`
      : pick(8, (random[9] ?? 0) % 2 === 0 ? domains.slice(0, 1) : domains)
  return { nickname: nickname ?? first, email: `${pick(10, syllables)}.${last}.${number}@${domain}` }
}

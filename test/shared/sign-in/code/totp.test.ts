import { generate } from 'otplib'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { TotpSecret, verifyTotp } from '../../../../shared/sign-in/code/totp.ts'

test.each([
  ['JBSWY3DPEHPK3PXP', 'JBSWY3DPEHPK3PXP'],
  ['jbswy3dpehpk3pxp', 'JBSWY3DPEHPK3PXP'],
  ['GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
  ['JBSWY3DPEHPK3PXPAA======', 'JBSWY3DPEHPK3PXPAA'],
])('the TOTP secret %s is accepted and stored as %s', (sent, kept) => {
  expect(v.parse(TotpSecret, sent)).toBe(kept)
})

test.each([
  ['nothing', ''],
  ['too short', 'JBSWY3DPEHPK3PX'],
  ['too long', 'A'.repeat(112)],
  ['far too long', 'A'.repeat(100_000)],
  ['a digit that base32 does not have', 'JBSWY3DPEHPK3PX1'],
  ['spaces', 'JBSW Y3DP EHPK 3PXP'],
  ['a letter that is S in upper case', 'JB\u017fWY3DPEHPK3PXP'],
  ['an impossible length', 'JBSWY3DPEHPK3PXPA'],
  ['bits left over', 'JBSWY3DPEHPK3PXPAB'],
  ['a number', 12345678],
])('an invalid TOTP secret is refused: %s', (_why, sent) => {
  expect(v.is(TotpSecret, sent)).toBe(false)
})

// Test vectors of RFC 6238 appendix B. The secret is the ASCII text 12345678901234567890 in base32. The codes
// are the last six of eight digits.
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test.each([
  [59, '287082', 1],
  [1_111_111_109, '081804', 37_037_036],
  [1_111_111_111, '050471', 37_037_037],
  [1_234_567_890, '005924', 41_152_263],
  [2_000_000_000, '279037', 66_666_666],
])('at %i s, the TOTP %s of RFC 6238’s test vectors is accepted', async (seconds, code, step) => {
  expect(await verifyTotp(secret, code, undefined, seconds * 1000)).toBe(step)
})

const now = 1_700_000_010_000
const step = Math.floor(now / 30_000)
const codeOf = (at: number) => generate({ secret, epoch: at * 30 })

test.each([-1, 0, 1])('a TOTP that is off by %i time steps is accepted', async (drift) => {
  expect(await verifyTotp(secret, await codeOf(step + drift), undefined, now)).toBe(step + drift)
})

test.each([-3, -2, 2, 3])('a TOTP that is off by %i time steps is refused', async (drift) => {
  expect(await verifyTotp(secret, await codeOf(step + drift), undefined, now)).toBeUndefined()
})

test.each([
  [-1, -1],
  [-1, 0],
  [0, 0],
  [0, 1],
  [1, 1],
  [1, 2],
])('a TOTP of step %i is refused if a TOTP of step %i was used (step 0 is current)', async (drift, last) => {
  expect(await verifyTotp(secret, await codeOf(step + drift), step + last, now)).toBeUndefined()
})

test('a TOTP is accepted if all TOTPs used so far are of earlier time steps', async () => {
  expect(await verifyTotp(secret, await codeOf(step), step - 1, now)).toBe(step)
})

test('a TOTP secret of ten bytes, as older authenticators have, works', async () => {
  expect(await verifyTotp('JBSWY3DPEHPK3PXP', '282760', undefined, 0)).toBe(0)
})

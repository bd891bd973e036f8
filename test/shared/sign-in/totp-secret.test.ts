import * as v from 'valibot'
import { expect, test } from 'vitest'
import { TotpSecret } from '../../../shared/sign-in/totp-secret.ts'

test.each([
  ['JBSWY3DPEHPK3PXP', 'JBSWY3DPEHPK3PXP'],
  ['jbswy3dpehpk3pxp', 'JBSWY3DPEHPK3PXP'],
  ['GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
  ['JBSWY3DPEHPK3PXPAA======', 'JBSWY3DPEHPK3PXPAA'],
])('%s is a secret', (sent, kept) => {
  expect(v.parse(TotpSecret, sent)).toBe(kept)
})

test.each([
  ['nothing', ''],
  ['too short', 'JBSWY3DPEHPK3PX'],
  ['too long', 'A'.repeat(112)],
  ['far too long', 'A'.repeat(100_000)],
  ['a digit that base32 does not have', 'JBSWY3DPEHPK3PX1'],
  ['spaces', 'JBSW Y3DP EHPK 3PXP'],
  ['an impossible length', 'JBSWY3DPEHPK3PXPA'],
  ['bits left over', 'JBSWY3DPEHPK3PXPAB'],
  ['a number', 12345678],
])('%s is none', (_why, sent) => {
  expect(v.is(TotpSecret, sent)).toBe(false)
})

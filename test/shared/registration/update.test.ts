import fc from 'fast-check'
import { expect, test } from 'vitest'
import { updateStamp } from '../../../shared/registration/update.ts'

const instant = fc.nat({ max: 8_640_000_000_000_000 })

test('a user update of a later instant has a greater stamp, whatever its update id', () => {
  fc.assert(
    fc.property(instant, instant, fc.string(), fc.string(), (a, b, one, other) => {
      fc.pre(a < b)
      return updateStamp(a, one) < updateStamp(b, other)
    }),
  )
})

test('two user updates of one instant have different stamps, which are the same on every call', () => {
  expect(updateStamp(1, 'a')).not.toBe(updateStamp(1, 'b'))
  expect(updateStamp(1, 'a')).toBe(updateStamp(1, 'a'))
})

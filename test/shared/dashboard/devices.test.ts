import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  activeUser,
  addDeviceEvent,
  type Device,
  type DeviceEvent,
  newDevice,
} from '../../../shared/dashboard/devices.ts'

const addAll = (events: readonly DeviceEvent[]): Device =>
  events.reduce((device, event) => addDeviceEvent(device, event) ?? device, newDevice)

const [a, b] = [1, 2]
const on = (userId: number, at: number): DeviceEvent => ({ userId, active: true, at })
const off = (userId: number, at: number): DeviceEvent => ({ userId, active: false, at })

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]))

it.each([
  ['that another user activated since stays with that user', [on(a, 1), on(b, 2), off(a, 3)], b],
  ['is inactive after its user deactivated it', [on(a, 1), on(b, 2), off(b, 3)], undefined],
  ['is inactive if activated and deactivated at once', [on(a, 1), off(a, 1)], undefined],
  ['that its former user takes back is active for that user', [on(a, 1), off(a, 2), on(b, 3), on(a, 4)], a],
  [
    'is inactive if its former user takes it back and gives it up',
    [on(b, 2), on(a, 3), off(a, 4)],
    undefined,
  ],
  ['that nobody activated is inactive', [off(a, 1)], undefined],
])('a device %s, in whatever order its events come', (_what, events, user) => {
  expect(new Set(permutations(events).map((order) => activeUser(addAll(order))))).toEqual(new Set([user]))
})

const anyEvent = fc.record({
  userId: fc.integer({ min: 1, max: 4 }),
  active: fc.boolean(),
  at: fc.integer({ min: 1, max: 6 }),
})

/** Events of a device in the order of their instants, and in any order. */
const events = fc.array(anyEvent, { maxLength: 8 }).chain((some) =>
  fc.record({
    // At one instant, activations come first, and of them that of the greatest user id last.
    inOrder: fc.constant(
      some.toSorted(
        (one, other) =>
          one.at - other.at || Number(other.active) - Number(one.active) || one.userId - other.userId,
      ),
    ),
    shuffled: fc.shuffledSubarray(some, { minLength: some.length }),
  }),
)

it('any events of a device end as if they came in the order of their instants', () => {
  fc.assert(
    fc.property(events, ({ inOrder, shuffled }) => {
      let holder: number | undefined
      for (const { userId, active } of inOrder) {
        if (active) holder = userId
        else if (holder === userId) holder = undefined
      }
      expect(activeUser(addAll(shuffled))).toBe(holder)
    }),
    { numRuns: 2_000 },
  )
})

it('any events of a device leave the same item in any order, even if each comes twice', () => {
  fc.assert(
    fc.property(events, ({ inOrder, shuffled }) => {
      expect(addAll([...shuffled, ...shuffled])).toEqual(addAll(inOrder))
    }),
    { numRuns: 2_000 },
  )
})

it('a device remembers the deactivations of at most twenty users', () => {
  const events = Array.from({ length: 50 }, (_, i) => off(i + 1, i + 1))
  expect([...addAll(events).ended.keys()]).toHaveLength(20)
})

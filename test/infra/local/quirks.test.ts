import { expect, it } from 'vitest'
import {
  describeQuirks,
  type Quirk,
  quirkMeanings,
  openQuirks,
  parseQuirks,
} from '../../../infra/local/quirks.ts'

const all = Object.keys(quirkMeanings) as Quirk[]

it('--aws takes either “all” or a list of simulated AWS behaviours, optionally with a seed and a speed', () => {
  expect(parseQuirks('all,seed=7')).toEqual({ quirks: all, seed: 7, speed: 1 })
  expect(parseQuirks('seed=0,throttles,speed=60,conflicts')).toEqual({
    quirks: ['conflicts', 'throttles'],
    seed: 0,
    speed: 60,
  })
  expect(parseQuirks('throttles').seed).toBeLessThan(1_000_000)
})

it.each(['', 'seed=7', 'conflict', 'all,', 'all,seed=x', 'all,speed=0'])('--aws refuses %j', (text) => {
  expect(() => parseQuirks(text)).toThrow()
})

it.each(['all,seed=7', 'conflicts,throttles,seed=12,speed=60'])(
  'the start-up message repeats the value of --aws: %s',
  (text) => {
    expect(describeQuirks(parseQuirks(text))).toBe(text)
  },
)

const drawTen = (seed: number) => {
  const quirks = openQuirks({ quirks: all, seed })
  return Array.from({ length: 10 }, () => quirks.draw('conflicts', 'a PutItem'))
}

it('a seed’s stream of random numbers is the same, whatever is drawn from other streams', () => {
  const other = openQuirks({ quirks: all, seed: 7 })
  const draws = Array.from({ length: 10 }, () => {
    other.draw('conflicts', 'b PutItem')
    other.draw('throttles', 'a PutItem')
    return other.draw('conflicts', 'a PutItem')
  })
  expect(draws).toEqual(drawTen(7))
  expect(new Set([...draws, ...drawTen(8)]).size).toBe(20)
})

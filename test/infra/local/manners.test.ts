import { expect, it } from 'vitest'
import {
  describeManners,
  type Manner,
  mannerMeanings,
  openManners,
  parseManners,
} from '../../../infra/local/manners.ts'

const all = Object.keys(mannerMeanings) as Manner[]

it('--aws accepts all simulated AWS behaviours or a list of them, with or without a seed and a speed', () => {
  expect(parseManners('all,seed=7')).toEqual({ manners: all, seed: 7, speed: 1 })
  expect(parseManners('seed=0,throttles,speed=60,conflicts')).toEqual({
    manners: ['conflicts', 'throttles'],
    seed: 0,
    speed: 60,
  })
  expect(parseManners('throttles').seed).toBeLessThan(1_000_000)
})

it.each(['', 'seed=7', 'conflict', 'all,', 'all,seed=x', 'all,speed=0'])('--aws refuses %j', (text) => {
  expect(() => parseManners(text)).toThrow()
})

it.each(['all,seed=7', 'conflicts,throttles,seed=12,speed=60'])(
  'the start-up message repeats the value of --aws: %s',
  (text) => {
    expect(describeManners(parseManners(text))).toBe(text)
  },
)

const drawTen = (seed: number) => {
  const manners = openManners({ manners: all, seed })
  return Array.from({ length: 10 }, () => manners.draw('conflicts', 'a PutItem'))
}

it('with the same seed, a stream of random numbers is always the same, whatever is drawn from other streams', () => {
  const other = openManners({ manners: all, seed: 7 })
  const draws = Array.from({ length: 10 }, () => {
    other.draw('conflicts', 'b PutItem')
    other.draw('throttles', 'a PutItem')
    return other.draw('conflicts', 'a PutItem')
  })
  expect(draws).toEqual(drawTen(7))
  expect(new Set([...draws, ...drawTen(8)]).size).toBe(20)
})

it('a simulated behaviour with the probability 0.1 happens in about one of ten draws, and never if it is not enabled', () => {
  const manners = openManners({ manners: ['conflicts'], seed: 7 })
  const count = (manner: Manner) =>
    Array.from({ length: 10_000 }, () => manners.happens(manner, 'x', 0.1)).filter(Boolean).length
  expect(count('conflicts')).toBeGreaterThan(900)
  expect(count('conflicts')).toBeLessThan(1100)
  expect(count('throttles')).toBe(0)
})

import { expect, it } from 'vitest'
import { Steps } from './steps.ts'

it('a failed step is shown with its reason, and later steps run all the same', async () => {
  const lines: string[] = []
  const steps = new Steps((line) => lines.push(line))
  const fail = async () => {
    throw new Error('first line\nsecond line')
  }
  expect(await steps.run('one', fail)).toBeUndefined()
  expect(await steps.run('two', async () => 2)).toBe(2)
  expect(lines).toEqual(['FAIL  one\n        first line\n        second line', 'ok    two (0 s)'])
  expect(steps.passed).toBe(false)
})

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { FunctionModel } from '../../infra/local/model.ts'
import { FailedCall, makeCalls, type Scenario } from './grants/calls.ts'
import { startOwnStack } from './grants/own-stack.ts'
import { grantedReach, reachOf } from './grants/reach.ts'
import type { Variant } from './grants/variants.ts'

const stack = await startOwnStack()
// The scenarios prepare their data in this process with shared code, so this process gets the functions'
// environment.
for (const { environment } of stack.functions) Object.assign(process.env, environment)
process.env['AWS_ENDPOINT_URL'] = stack.awsUrl
const { signInScenarios } = await import('./grants/sign-in-scenarios.ts')
const { dataScenarios } = await import('./grants/data-scenarios.ts')
const { eventScenarios } = await import('./grants/event-scenarios.ts')
const { backgroundScenarios } = await import('./grants/background-scenarios.ts')

const concurrentScenarios = { ...signInScenarios, ...dataScenarios, ...eventScenarios }
const scenarios: Record<string, Scenario> = { ...concurrentScenarios, ...backgroundScenarios }

const find = (name: string): FunctionModel => {
  const found = stack.functions.find((item) => item.name === name)
  if (found === undefined) throw new Error(`there is no function ${name}`)
  return found
}

/** Runs a scenario against a function, and returns whether one of its calls failed. */
async function fails(scenario: Scenario, { logicalId }: FunctionModel): Promise<boolean> {
  try {
    await scenario(makeCalls((payload) => stack.invoke(logicalId, payload)))
    return false
  } catch (error) {
    if (error instanceof FailedCall) return true
    throw error
  }
}

/**
 * Runs a scenario without one of the function's IAM grants, and returns whether one of its calls failed, with
 * the lines that it logged. A worker that has run before saves the start of one, so the scenario runs there
 * first; if it remembers what the grant would let it read, nothing fails, and a new worker decides.
 */
async function failsWithout(variant: Variant, original: FunctionModel, scenario: Scenario) {
  const { model } = variant
  const isOnlyDenied =
    model.environment === original.environment && model.timeoutSeconds === original.timeoutSeconds
  const before = stack.readLog(original.name).length
  if (isOnlyDenied && (await stack.withPoliciesOf(variant, original, () => fails(scenario, original))))
    return { failed: true, readLog: () => stack.readLog(original.name).slice(before) }
  return { failed: await fails(scenario, model), readLog: () => stack.readLog(model.name) }
}

const inTurn = { concurrent: false }

beforeAll(async () => {
  await stack.invoke(find('rotate-signing-keys').logicalId, '{}')
})
afterAll(() => stack.stop())

test('every function that has an IAM grant has a scenario in these tests', () => {
  const granted = new Set(stack.variants.map(({ of }) => of))
  const names = stack.functions.filter(({ logicalId }) => granted.has(logicalId)).map(({ name }) => name)
  expect(names.sort()).toEqual(Object.keys(scenarios).sort())
})

/**
 * Adds the tests of one function: it works with all its IAM grants, and fails without any one of them. They
 * run one after another, because they change its policies.
 */
function testGrantsOf(name: string): void {
  const original = find(name)
  const scenario = scenarios[name] as Scenario
  test(`${name} works with all its IAM grants`, inTurn, async () => {
    expect(await fails(scenario, original), stack.readLog(name)).toBe(false)
    expect(stack.readLog(name)).not.toContain('AccessDenied')
  })

  test(`${name} is denied every partition that its grants do not name, by every action`, inTurn, () => {
    expect(reachOf(original, stack.model)).toEqual(grantedReach(original))
  })

  test.each(stack.variants.filter(({ of }) => of === original.logicalId))(
    `${name} fails without the IAM grant $without`,
    inTurn,
    async (variant) => {
      const { failed, readLog } = await failsWithout(variant, original, scenario)
      expect(failed, readLog()).toBe(true)
      await vi.waitFor(() => expect(readLog()).toContain('AccessDenied'), { timeout: 10_000, interval: 5 })
    },
  )
}

describe.concurrent.each(Object.keys(concurrentScenarios))('IAM grants of %s', testGrantsOf)

// These functions are tested one after another, because the scenario of the rotation deletes the keys with
// which others sign.
describe.each(Object.keys(backgroundScenarios))('IAM grants of %s', testGrantsOf)

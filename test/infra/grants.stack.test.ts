import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCalls, type Scenario } from './grants/calls.ts'
import { listForeign, listUnused } from './grants/list-grants.ts'
import { startOwnStack } from './grants/own-stack.ts'

const stack = await startOwnStack()
// To prepare data, scenarios run shared code in this process, which needs the functions' environment.
for (const { environment } of stack.functions) Object.assign(process.env, environment)
process.env['AWS_ENDPOINT_URL'] = stack.awsUrl
const { signInScenarios } = await import('./grants/sign-in-scenarios.ts')
const { dataScenarios } = await import('./grants/data-scenarios.ts')
const { eventScenarios } = await import('./grants/event-scenarios.ts')
const { backgroundScenarios } = await import('./grants/background-scenarios.ts')

const concurrentScenarios = { ...signInScenarios, ...dataScenarios, ...eventScenarios }
const scenarios: Record<string, Scenario> = { ...concurrentScenarios, ...backgroundScenarios }

const granted = stack.functions.filter((item) => listUnused(item, []).length > 0)
const functionOf = (name: string) => granted.find((item) => item.name === name) ?? expect.unreachable(name)

beforeAll(async () => {
  await stack.invoke('rotate-signing-keys', '{}')
})
afterAll(() => stack.stop())

test('every function with an IAM grant has a scenario that tests its grants', () => {
  expect(granted.map(({ name }) => name).sort()).toEqual(Object.keys(scenarios).sort())
})

async function testGrantsOf(name: string): Promise<void> {
  const item = functionOf(name)
  await scenarios[name]?.(makeCalls((payload) => stack.invoke(name, payload)))
  expect(stack.logOf(name)).not.toContain('AccessDenied')
  expect(listUnused(item, stack.callsOf(name).flat())).toEqual([])
}

const title = '%s has every IAM grant that it needs, and needs every action or partition that it is granted'
describe.concurrent('functions', () => {
  test.each(Object.keys(concurrentScenarios))(title, testGrantsOf)
})
// The rotation's scenario deletes the signing keys, so it runs after the scenarios that sign with them.
test.each(Object.keys(backgroundScenarios))(title, testGrantsOf)

// This test is the last one, because it needs the AWS calls of all functions.
test('THREAT-MODEL.md lists each transaction that needs more than one policy statement', () => {
  const security = readFileSync(new URL('../../infra/THREAT-MODEL.md', import.meta.url), 'utf8')
  const listed = [...security.matchAll(/^- (`[^:]*`) checks? `([A-Z]+#)`:/gm)].flatMap(
    ([, names = '', key]) => [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => `${name} ${key}`),
  )
  const foreign = granted.flatMap((item) =>
    stack.callsOf(item.name).flatMap((call) => listForeign(item, call).map((key) => `${item.name} ${key}`)),
  )
  expect([...new Set(foreign)].sort()).toEqual(listed.sort())
})

import { type App, CfnOutput, Stack } from 'aws-cdk-lib'
import { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleAuthorizationPage } from '../../infra/bundle/page.ts'
import { ofType, type Stacks, synthesizeUnchecked } from '../infra/stacks/synthesize.ts'
import { makeBundleDirectories } from '../support/bundle-directories.ts'
import { changeRelease, changes } from './release-b.ts'

interface Releases {
  before: Stacks
  after: Stacks
}

let own: Releases
let entangled: Releases

/** Makes one stack refer to a function of another one, as its alarms once did. */
function refer(app: App): void {
  const stacks = app.node.children.filter((child) => Stack.isStack(child))
  const observability = stacks.find(({ stackName }) => stackName.endsWith('observability'))
  if (observability === undefined) throw new Error('the observability stack is gone')
  for (const stack of stacks.filter((other) => other !== observability))
    for (const fn of stack.node.findAll())
      if (fn instanceof CfnFunction) new CfnOutput(observability, `Watched${fn.node.addr}`, { value: fn.ref })
}

beforeAll(async () => {
  await bundleAuthorizationPage()
  makeBundleDirectories()
  const values = { authorizationPage: true }
  const before = await synthesizeUnchecked('prod', { values })
  const beforeEntangled = await synthesizeUnchecked('prod', { values, change: refer })
  changeRelease()
  own = { before, after: await synthesizeUnchecked('prod', { values }) }
  entangled = {
    before: beforeEntangled,
    after: await synthesizeUnchecked('prod', { values, change: refer }),
  }
})

/** Lists the exports of a stack by name, each with the text of its value. */
const exportsOf = (stacks: Stacks, name: string): Map<string, string> =>
  new Map(
    Object.values(stacks.get(name)?.outputs ?? {}).flatMap(({ Export: exported, Value: value }) =>
      exported === undefined ? [] : [[exported.Name, JSON.stringify(value)]],
    ),
  )

/** Lists the exports that a stack imports. */
function importsOf(stacks: Stacks, name: string): Set<string> {
  const { resources, outputs } = stacks.get(name) ?? {}
  const imports = JSON.stringify({ resources, outputs }).matchAll(/"Fn::ImportValue":"([^"]+)"/g)
  return new Set([...imports].map(([, exported = '']) => exported))
}

/**
 * Updates the stacks one after another, as `cdk deploy --all` does, by CloudFormation's rule: an export that
 * another stack imports at that moment can be neither removed nor changed. Returns the refused updates.
 */
function refusedUpdates({ before, after }: Releases): string[] {
  const updated = new Set<string>()
  return [...after.keys()].flatMap((name) => {
    const kept = exportsOf(after, name)
    const lost = [...exportsOf(before, name)].filter(([exported, value]) => kept.get(exported) !== value)
    const refused = lost.flatMap(([exported]) =>
      [...before.keys()]
        .filter((other) => other !== name)
        .filter((other) => importsOf(updated.has(other) ? after : before, other).has(exported))
        .map((other) => `${name}: export ${exported} is in use by ${other}`),
    )
    updated.add(name)
    return refused
  })
}

const names = (stacks: Stacks, type: string, property: string) =>
  ofType(stacks, type).map(({ resource }) => String(resource.Properties[property]))

describe('release B over release A', () => {
  it('release B lacks an endpoint and an event, and has one of each under another name', () => {
    const { removedPath, removedEvent, renamedPath, renamedEvent } = changes
    const routesOf = (stacks: Stacks) => names(stacks, 'AWS::ApiGatewayV2::Route', 'RouteKey')
    const [before, after] = [routesOf(own.before), routesOf(own.after)]
    expect(before.filter((route) => !after.includes(route))).toEqual([
      `GET ${removedPath}`,
      `GET ${renamedPath.from}`,
    ])
    expect(after.filter((route) => !before.includes(route))).toEqual([`GET ${renamedPath.to}`])
    const rules = names(own.after, 'AWS::Events::Rule', 'Name').join()
    expect(rules).not.toContain(removedEvent.replace('.', '-'))
    expect(rules).not.toContain(renamedEvent.from.replace('.', '-'))
    expect(rules).toContain(renamedEvent.to.replace('.', '-'))
  })

  it('each stack is updated after those that it imports from', () => {
    const order = [...own.after.keys()]
    for (const [name, { stack }] of own.after)
      for (const needed of stack.dependencies)
        expect(order.indexOf(needed.stackName.replace('account-service-prod-', ''))).toBeLessThan(
          order.indexOf(name),
        )
  })

  it('no update to release B removes or changes an export that another stack still imports', () => {
    expect(importsOf(own.before, 'api').size).toBeGreaterThan(0)
    expect(refusedUpdates(own)).toEqual([])
  })

  it('an update is refused if another stack refers to a function that release B lacks', () => {
    const refused = refusedUpdates(entangled).join('\n')
    for (const name of ['dashboardearnings', 'depositrecords', 'intaketrafficreported'])
      expect(refused).toMatch(new RegExp(`export .*${name}.* is in use by observability`))
  })
})

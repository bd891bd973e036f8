import { expect, it } from 'vitest'
import { ofType, synthesizeUnchecked } from '../synthesize.ts'

const stacks = await synthesizeUnchecked('prod')

interface Joined {
  id: string
  members: string[]
  suppressor: string | undefined
  notifies: boolean
}

const nameOf = (properties: Record<string, unknown>) =>
  String(properties['AlarmName']).replace('account-service-prod-', '')

/** The alarms on metrics, keyed by logical id. */
const single = () =>
  new Map(
    ofType(stacks, 'AWS::CloudWatch::Alarm')
      .filter(({ stack }) => stack === 'observability')
      .map(({ id, resource }) => [id, resource.Properties]),
  )

/** The composite alarms, keyed by name. */
const composite = () =>
  new Map(
    ofType(stacks, 'AWS::CloudWatch::CompositeAlarm').map(({ id, resource: { Properties: properties } }) => {
      const idsIn = (value: unknown) =>
        [...JSON.stringify(value ?? '').matchAll(/"Fn::GetAtt":\["(\w+)","Arn"\]/g)].map(
          ([, member = '']) => member,
        )
      const joined: Joined = {
        id,
        members: idsIn(properties['AlarmRule']),
        suppressor: idsIn(properties['ActionsSuppressor'])[0],
        notifies: properties['AlarmActions'] !== undefined,
      }
      return [nameOf(properties), joined]
    }),
  )

/** Names of the composite alarms that notify the operators while the given metric alarms are raised. */
function toldBy(raised: string[]): string[] {
  const byName = new Map([...single()].map(([id, properties]) => [nameOf(properties), id]))
  const found = new Set(raised.map((name) => byName.get(name) ?? expect.unreachable(name)))
  const all = [...composite()]
  for (let pass = 0; pass < all.length; pass += 1)
    for (const [, { id, members }] of all) if (members.some((member) => found.has(member))) found.add(id)
  return all
    .filter(([, { id, suppressor, notifies }]) => notifies && found.has(id) && !found.has(suppressor ?? ''))
    .map(([name]) => name)
}

it('every alarm on metrics belongs to exactly one composite alarm and notifies nobody by itself', () => {
  const joined = [...composite()].filter(([name]) => name !== 'causes').flatMap(([, { members }]) => members)
  expect(joined.toSorted()).toEqual([...single().keys()].toSorted())
  for (const [id, properties] of single()) expect(properties['AlarmActions'], id).toBeUndefined()
})

it.each([
  [['table-throttles', 'user-login-2fa-errors', 'wallet-adjusted-late', 'api-server-errors'], ['shared']],
  [['intake-wallet-adjusted-errors', 'wallet-adjusted-dead-letters', 'wallet-adjusted-late'], ['events']],
  [['oauth2-token-errors', 'api-server-errors', 'api-latency'], ['tokens']],
  [['rotation-overdue', 'key-changes', 'rotate-signing-keys-errors'], ['keys']],
  [['mail-bounces'], ['sign-in']],
  [['ledger-difference', 'verify-ledger-errors'], ['wallets']],
  [['community-members-errors'], ['community']],
  [['api-client-errors', 'too-many-requests', 'account-info-at-throttle'], ['requests']],
  [[], []],
])('one cause notifies the operators once: if the alarms %j are raised, only %j notifies', (raised, told) => {
  expect(toldBy(raised)).toEqual(told)
})

it('“causes” combines every other composite alarm except “requests”', () => {
  const joined = composite()
  const idOf = (name: string) => joined.get(name)?.id
  const others = [...joined.keys()].filter((name) => !['causes', 'requests'].includes(name))
  expect(joined.get('causes')?.members.toSorted()).toEqual(others.map(idOf).toSorted())
})

it('the dashboard begins with “causes” and “requests”', () => {
  const [dashboard] = ofType(stacks, 'AWS::CloudWatch::Dashboard')
  const body = JSON.stringify(dashboard?.resource.Properties['DashboardBody'])
  expect(body).toMatch(/alarm:account-service-prod-causes.*alarm:account-service-prod-requests.*Latency/)
})

it('no composite alarm has a longer rule than CloudWatch allows in any region', () => {
  const prefix =
    'ALARM("arn:aws:cloudwatch:ap-southeast-1:123456789012:alarm:account-service-123456789012-") OR '.length
  for (const [name, { members }] of composite()) {
    const names = members.map((id) => nameOf(single().get(id) ?? { AlarmName: id }).length + prefix)
    expect(
      names.reduce((sum, length) => sum + length, 0),
      name,
    ).toBeLessThan(10_240)
    expect(members.length, name).toBeLessThanOrEqual(100)
  }
})

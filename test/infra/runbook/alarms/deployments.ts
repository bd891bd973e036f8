import { LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda'
import { expect } from 'vitest'
import type { FunctionModel } from '../../../../infra/local/model.ts'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { readWallet } from '../../../../shared/ledger/wallet.ts'
import { addUser } from '../../../support/ledger.ts'
import { bearer, createSession } from '../../../support/oauth-clients.ts'
import { putEvents } from '../../../support/put-event.ts'
import { pollOptions } from '../follow.ts'
import { sectionOf } from '../read-runbook.ts'
import type { AlarmRehearsal, Room } from './room.ts'

/** CodeDeploy's configuration of a canary: a tenth of the calls. */
const share = 0.1
/** Calls of which one runs in the new version. */
const round = 10
/** Failures that roll a deployment back. */
const enough = 3

/** Sends the calls of a function to this version, and a share of them to others, as CodeDeploy does. */
async function moveCalls(
  FunctionName: string,
  FunctionVersion: string,
  AdditionalVersionWeights: Record<string, number> = {},
): Promise<void> {
  const client = new LambdaClient(clientOptions())
  const RoutingConfig = { AdditionalVersionWeights }
  await client.send(new UpdateAliasCommand({ FunctionName, Name: 'live', FunctionVersion, RoutingConfig }))
  client.destroy()
}

/** Lets the alarms of a function's deployments watch this version, as CloudFormation does first. */
function watch({ stack, alarmsOf }: Room, name: string, version: string): void {
  const judges = alarmsOf(name, version).filter((alarm) => alarm.name.includes('-deployment-'))
  expect(judges).toHaveLength(2)
  judges.forEach(stack.aws.cloudwatch.put)
}

/** Deploys a new version of a function up to the time when CodeDeploy decides on it. */
async function tryVersion(room: Room, changed: FunctionModel, expected: string): Promise<void> {
  const { name, alias } = room.functionOf(changed.name)
  expect(room.stack.aws.publish(changed)).toBe(expected)
  watch(room, name, expected)
  await moveCalls(name, alias?.version ?? '', { [expected]: share })
}

/** What CodeDeploy and then CloudFormation do when the alarm is raised: back to the previous version. */
async function rollBack(room: Room, name: string): Promise<void> {
  await moveCalls(name, '1')
  watch(room, name, '1')
}

/**
 * Deploys the mended function as the third version. `call` makes its calls while the failures of the second
 * are not over yet for other alarms, `raised`.
 */
async function deployAgain(
  room: Room,
  good: FunctionModel,
  call: (times: number) => Promise<unknown>,
  raised: string[],
): Promise<void> {
  await tryVersion(room, good, '3')
  await call(round)
  await room.pass(1)
  expect(room.raised()).toEqual(raised)
  await moveCalls(good.name, '3')
  await call(1)
}

const bills = 'account-bills'
const rewards = 'intake-reward-granted'

async function askBills({ url }: Room, calls: number): Promise<number[]> {
  const { accessToken } = await createSession()
  const statuses: number[] = []
  for (let call = 0; call < calls; call += 1)
    statuses.push(
      (await fetch(`${url}/account/bills?current=1&size=5`, { headers: bearer(accessToken) })).status,
    )
  return statuses
}

let userId = 0
let granted = 0

/** Sends a reward of one USDT. */
async function grant(): Promise<void> {
  granted += 1
  const reward = { reward_id: `reward-${userId}-${granted}`, user_id: userId, reward_type: 'NODE' }
  const earned_on = new Date().toISOString().slice(0, 10)
  await putEvents('reward.granted', [{ ...reward, currency: 'USDT', amount: '1', earned_on }])
}

/** Waits until each reward that was sent is applied, once. */
const allApplied = () =>
  expect
    .poll(
      async () => {
        const { holdings } = await readWallet({ userId, wallet: 'reward' }, { consistent: true })
        return holdings.get('USDT')?.balance.toFixed()
      },
      { ...pollOptions, interval: 20 },
    )
    .toBe(String(granted))

const nameOf = (cause: unknown) => String((cause as { name: unknown }).name)

/** The faults of the version that is rehearsed, by which its alarm is raised. */
export const rehearsedFaults = { function: rewards, version: '2' }

/** The alarms by which CodeDeploy rolls a deployment back. */
export const deploymentAlarms: AlarmRehearsal[] = [
  {
    cause: 'a new version of a function crashes, because its bundle lacks the handler',
    raises: [`${bills}-deployment-errors`, `${bills}-errors`],
    journey: 'wallets',
    async fault(room) {
      await tryVersion(room, { ...room.functionOf(bills), handler: 'index.gone' }, '2')
      const statuses = await askBills(room, enough * round)
      expect(statuses.filter((status) => status === 500)).toHaveLength(enough)
      expect(statuses.filter((status) => status === 200)).toHaveLength(enough * round - enough)
    },
    async mend(room) {
      expect(sectionOf('function-errors')).toContain('`Uncaught Exception`')
      const crashes = room.linesOf(bills).filter((line) => line.includes('Uncaught Exception'))
      expect(crashes.join()).toContain('index.gone is undefined or not exported')
      await rollBack(room, bills)
      const succeed = async (times: number) =>
        expect(new Set(await askBills(room, times))).toEqual(new Set([200]))
      await succeed(round)
      await deployAgain(room, { ...room.functionOf(bills) }, succeed, [`${bills}-errors`])
    },
  },
  {
    cause: 'a new version of a function is deployed with the name of another table',
    raises: [`${rewards}-deployment-faults`],
    async fault(room) {
      userId = await addUser()
      const good = room.functionOf(rewards)
      await tryVersion(room, { ...good, environment: { ...good.environment, TABLE_NAME: 'another' } }, '2')
      while (room.sumOf('Faults', rehearsedFaults) < enough) {
        await grant()
        await room.invoked(rewards, granted)
      }
    },
    async mend(room) {
      const message = 'event will be retried'
      expect(sectionOf('failed-deployment')).toContain(`\`${message}\``)
      const lines = room.logOf(rewards).filter((line) => line['message'] === message)
      expect(lines.map(({ level, cause }) => `${String(level)} ${nameOf(cause)}`)).toContain(
        'WARN AccessDeniedException',
      )
      await rollBack(room, rewards)
      // The failed ones wait in their queue until they are tried again.
      await allApplied()
      // One after another, because they are about one wallet.
      const grantMore = async (times: number) => {
        for (let event = 0; event < times; event += 1) {
          await grant()
          await allApplied()
        }
      }
      await deployAgain(room, { ...room.functionOf(rewards) }, grantMore, [])
    },
  },
]

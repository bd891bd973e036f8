import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { tableName } from '../../../../shared/db/table.ts'
import { transact } from '../../../../shared/db/write.ts'
import { readSlices, writeSlice } from '../../../../shared/ledger/verification-slice.ts'
import { putWallet, readWallet, walletKey } from '../../../../shared/ledger/wallet.ts'
import { addUser, adjustment } from '../../../support/ledger.ts'
import { bearer, createSession } from '../../../support/oauth-clients.ts'
import { putEvents } from '../../../support/put-event.ts'
import { pollOptions } from '../follow.ts'
import { standby } from './alarm-stage.ts'
import { scheduleOff } from './keys.ts'
import type { AlarmRehearsal, Room } from './room.ts'

const verification = 'verify-ledger'
const day = 86_400_000

const askAddress = async ({ url }: Room) => {
  const { accessToken } = await createSession()
  const query = 'currency=USDT&currencyNetWork=USDT'
  return (await fetch(`${url}/address/info?${query}`, { headers: bearer(accessToken) })).status
}

async function importAddress({ section, stack }: Room): Promise<void> {
  const FILE = `${stack.logFile}.addresses`
  writeFileSync(FILE, [1, 2, 3].map((i) => `address-${Date.now()}-${i}`).join('\n'))
  const command = 'addresses import FILE --currency CODE --network CODE --confirmations NUMBER'
  const { ops } = section('address-pool')
  expect(await ops(command, { FILE, CODE: 'USDT', NUMBER: '12' })).toMatchObject({ code: 0 })
}

/** Makes it so long since every slice of the ledger was verified, although its schedule runs meanwhile. */
async function ageSlices(milliseconds: number): Promise<void> {
  const at = Date.now() - milliseconds
  const age = async () => {
    const others = (await readSlices()).filter(({ verified_at }) => verified_at !== at)
    const aged = { started_at: at, verified_at: at, after: undefined, leased_until: 0 }
    await Promise.all(others.map((slice) => writeSlice({ ...slice, ...aged })))
    return others.length
  }
  await expect.poll(age, pollOptions).toBe(0)
}

let userId = 0

/** Lets the replica of the table be so far behind in each of two periods of five minutes. */
async function beBehind({ stack, pass }: Room, milliseconds: number): Promise<void> {
  const dimensions = { TableName: tableName(), ReceivingRegion: standby.region }
  for (let period = 0; period < 2; period += 1) {
    stack.aws.cloudwatch.record(
      { namespace: 'AWS/DynamoDB', name: 'ReplicationLatency', dimensions },
      milliseconds,
    )
    await pass(5)
  }
}

/** The alarms on wallets, deposit addresses and the verification of the ledger. */
export const walletAlarms: AlarmRehearsal[] = [
  {
    cause: 'a pool of deposit addresses runs empty',
    raises: ['address-pool', 'address-pool-low'],
    journey: 'wallets',
    async fault(room) {
      await importAddress(room)
      for (const status of [200, 200, 200, 503]) expect(await askAddress(room)).toBe(status)
      await room.counted('AddressPoolLow', 1)
      await room.counted('AddressPoolEmpty', 1)
    },
    async mend(room) {
      await importAddress(room)
      expect(await askAddress(room)).toBe(200)
    },
  },
  {
    cause: 'somebody changed a balance in the table',
    raises: ['ledger-difference'],
    journey: 'wallets',
    async fault({ run, counted }) {
      userId = await addUser()
      const id = { userId, wallet: 'asset' } as const
      await putEvents('wallet.adjusted', [adjustment(userId)])
      await expect.poll(() => readWallet(id, { consistent: true }), pollOptions).toMatchObject({ version: 1 })
      const wallet = await readWallet(id, { consistent: true })
      const usdt = wallet.holdings.get('USDT') ?? expect.unreachable()
      const holdings = new Map(wallet.holdings).set('USDT', { ...usdt, balance: usdt.balance.plus('5') })
      await transact([putWallet({ ...wallet, version: 2, holdings })])
      await ageSlices(day + 1_000)
      await run(verification)
      await counted('LedgerDifferences', 1)
    },
    async mend({ section, stack }) {
      const { ops, aws } = section('ledger-difference')
      const { differences } = (await ops('ledger verify')).result as { differences: object[] }
      expect(differences).toMatchObject([{ userId, currency: 'USDT', expected: '1', actual: '6' }])
      await ops('maintenance on --only events')
      const FILE = `${stack.logFile}.update`
      const { pk, sk } = walletKey({ userId, wallet: 'asset' })
      const input = {
        TableName: tableName(),
        Key: { pk: { S: pk }, sk: { S: sk } },
        UpdateExpression: 'SET holdings.#currency.b = :expected, version = :next',
        ConditionExpression: 'version = :was',
        ExpressionAttributeNames: { '#currency': 'USDT' },
        ExpressionAttributeValues: { ':expected': { N: '1' }, ':was': { N: '2' }, ':next': { N: '3' } },
      }
      writeFileSync(FILE, JSON.stringify(input))
      await aws('aws dynamodb update-item --cli-input-json file://FILE', { FILE })
      expect(await ops('ledger verify --user ID', { ID: String(userId) })).toMatchObject({ code: 0 })
      expect(await ops('maintenance off --only events')).toMatchObject({ code: 0 })
    },
  },
  {
    cause: 'the verification of the ledger has failed for days, because it may not write',
    raises: ['ledger-unverified', `${verification}-errors`],
    journey: 'wallets',
    async fault({ stack, functionOf, run, counted }) {
      const model = functionOf(verification)
      const policies = model.policies.map((policy) => ({
        ...policy,
        Statement: policy.Statement.filter(({ Action }) => !String(Action).includes('PutItem')),
      }))
      stack.aws.replacePolicies({ ...model, policies })
      await ageSlices(4 * day)
      expect(await run(verification)).toMatchObject({ functionError: 'Unhandled' })
      await counted('LedgerVerificationAge', 3 * 86_400)
    },
    async mend({ stack, functionOf, run, section }) {
      section('ledger-unverified')
      stack.aws.replacePolicies(functionOf(verification))
      expect(await run(verification)).toMatchObject({ functionError: undefined })
      const oldest = async () => Math.min(...(await readSlices()).map(({ verified_at: at }) => at))
      await expect.poll(oldest, pollOptions).toBeGreaterThan(Date.now() - day)
    },
  },
  scheduleOff(verification, 'ledger-verification-silent', 'wallets', 'ledger-unverified'),
  {
    cause: 'by hand, because a local stack has no other region: the replica of the table is behind',
    raises: ['replication-late'],
    journey: 'wallets',
    fault: (room) => beBehind(room, 120_000),
    async mend(room) {
      room.section('replication-late')
      await beBehind(room, 500)
    },
  },
]

import type { ListVersionsByFunctionResponse } from '@aws-sdk/client-lambda'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { LocalStack } from '../../../infra/local/local-stack.ts'
import type { FunctionModel } from '../../../infra/local/model.ts'
import { readWallet } from '../../../shared/ledger/wallet.ts'
import { addUser, adjustment, describeWallet } from '../../support/ledger.ts'
import { putEvents } from '../../support/put-event.ts'
import { settle } from './answers.ts'
import { follow } from './follow.ts'

const NAME = 'intake-wallet-adjusted'

/**
 * Rehearses the procedure for a version that books ten times the amount: calls go back to the version before,
 * the last good commit is deployed, and the user's wallet is corrected.
 */
export async function aBadVersionInService({ baseUrl: url, aws, model }: LocalStack): Promise<void> {
  const procedure = follow('A bad version in service', url)
  const listVersions = async () => {
    const command = 'aws lambda list-versions-by-function --function-name NAME'
    const { Versions } = (await procedure.aws(command, { NAME })) as ListVersionsByFunctionResponse
    return Versions?.map(({ Version }) => Version)
  }
  const verify = async () => (await follow('ledger-difference', url).ops('ledger verify')).code
  const userId = await addUser()
  const book = async (changes: object = {}) => {
    await putEvents('wallet.adjusted', [adjustment(userId, changes)])
    await settle(url)
    return describeWallet(await readWallet({ userId, wallet: 'asset' }, { consistent: true })).holdings[
      'USDT'
    ]
  }
  const good = { ...(model.functions.find(({ name }) => name === NAME) ?? expect.unreachable()) }
  const directory = mkdtempSync(join(tmpdir(), 'bad-version-'))
  try {
    aws.deploy([writeBadVersion(good, directory)])
    expect(await book()).toBe('10 0 0 0')
    expect(await listVersions()).toEqual(['$LATEST', '1', '2'])
    const move = 'aws lambda update-alias --function-name NAME --name live --function-version NUMBER'
    await procedure.aws(move, { NAME, NUMBER: '1' })
    expect(await book()).toBe('11 0 0 0')

    aws.deploy([good])
    expect(await listVersions()).toEqual(['$LATEST', '1', '2', '3'])
    expect(await book()).toBe('12 0 0 0')
    // The wrong amount is in the bill and in the balance.
    expect(await verify()).toBe(0)
    expect(await book({ amount: '9', direction: 2, reason: 'paid ten times' })).toBe('3 0 0 0')
    expect(await verify()).toBe(0)
  } finally {
    aws.deploy([good])
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Writes a bundle that adds a zero to the amount of each event, and then does as the good one. */
function writeBadVersion(good: FunctionModel, directory: string): FunctionModel {
  const code = `
    import { handler as good } from ${JSON.stringify(join(good.codeDirectory, 'index.mjs'))}
    export const handler = (event, context) => {
      for (const record of event.Records) {
        const body = JSON.parse(record.body)
        body.detail.amount += '0'
        record.body = JSON.stringify(body)
      }
      return good(event, context)
    }`
  writeFileSync(join(directory, 'index.mjs'), code)
  return { ...good, codeDirectory: directory }
}

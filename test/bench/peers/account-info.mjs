import { readTogether } from '../../../shared/db/read.ts'
import { successBody } from '../../../shared/http/reply.ts'
import { listAccounts } from '../../../shared/ledger/account.ts'
import { readWallet } from '../../../shared/ledger/wallet.ts'
import { checkAccessToken, claimedUserId } from '../../../shared/tokens/access-token.ts'

/** The path that the events of the benchmark name. */
export const path = '/test'

/** The work of GET /account/info without its frame: the session check beside the read of the wallet. */
export async function answerAccountInfo(authorization = '') {
  const [, token = ''] = /^Bearer (\S+)$/i.exec(authorization) ?? []
  const userId = claimedUserId(token)
  if (userId === undefined) return undefined
  const [wallet] = await readTogether(() =>
    Promise.all([readWallet({ userId, wallet: 'asset' }), checkAccessToken(token, 'account.read')]),
  )
  return successBody(listAccounts(wallet), 'envelope')
}

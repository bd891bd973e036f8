import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'
import { readTogether } from '../../../shared/db/read.ts'
import { successBody } from '../../../shared/http/reply.ts'
import { listAccounts } from '../../../shared/ledger/account.ts'
import { readWallet } from '../../../shared/ledger/wallet.ts'
import { checkAccessToken, claimedUserId } from '../../../shared/tokens/access-token.ts'

/** Answers GET /account/info as the service does. Hono stands in for the service's own handling of HTTP. */
async function answerAccountInfo(authorization = '') {
  const [, token = ''] = /^Bearer (\S+)$/i.exec(authorization) ?? []
  const userId = claimedUserId(token)
  if (userId === undefined) return undefined
  const [wallet] = await readTogether(() =>
    Promise.all([readWallet({ userId, wallet: 'asset' }), checkAccessToken(token, 'account.read')]),
  )
  return successBody(listAccounts(wallet), 'envelope')
}

const app = new Hono()
// The benchmark sends every event with the path `/test`, whatever function it is for.
app.all('/test', async (context) => {
  const body = await answerAccountInfo(context.req.header('authorization'))
  return body === undefined
    ? context.body(null, 401)
    : context.body(body, 200, { 'content-type': 'application/json' })
})

export const handler = handle(app)

import type { StackModel } from '../../model.ts'
import { jsonAnswer } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

const accountPath = '/v2/email/account'
const identityPath = /^\/v2\/email\/identities\/([^/]+)$/

/** The SES operations GetAccount and GetEmailIdentity of an account that may send from any address. */
export function sesAccountService({ region, accountId }: StackModel): Service {
  return ({ method, path }) => {
    if (method !== 'GET') return undefined
    if (path === accountPath)
      return {
        access: () => [{ action: 'ses:GetAccount', resource: '*' }],
        run: () =>
          jsonAnswer('application/json', {
            ProductionAccessEnabled: true,
            SendingEnabled: true,
            SendQuota: { Max24HourSend: -1, MaxSendRate: -1, SentLast24Hours: 0 },
          }),
      }
    const [, identity] = identityPath.exec(path) ?? []
    if (identity === undefined) return undefined
    const name = decodeURIComponent(identity)
    return {
      access: () => [
        {
          action: 'ses:GetEmailIdentity',
          resource: `arn:aws:ses:${region}:${accountId}:identity/${name}`,
        },
      ],
      run: () =>
        jsonAnswer('application/json', {
          IdentityType: name.includes('@') ? 'EMAIL_ADDRESS' : 'DOMAIN',
          VerifiedForSendingStatus: true,
        }),
    }
  }
}

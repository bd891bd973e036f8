import {
  GetAccountCommand,
  type GetAccountCommandOutput,
  GetEmailIdentityCommand,
  NotFoundException,
  SESv2Client,
} from '@aws-sdk/client-sesv2'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { type Finding, judge } from './finding.ts'
import { identitiesOf } from '../../mail-identities.ts'

/**
 * Checks that SES would send a mail from this address to anyone. The account must be out of the sandbox and
 * below its quota. The address, its domain or a parent domain must be a verified identity. SES uses the most
 * specific of these identities. That identity must not have a default configuration set. Each region has its
 * own SES; `region` defaults to the deployment's region.
 * https://docs.aws.amazon.com/ses/latest/dg/request-production-access.html
 */
export async function checkMail(mailFrom: string, region?: string): Promise<Finding> {
  const client = new SESv2Client({ ...clientOptions(), ...(region ? { region } : {}) })
  const [account, identity] = await Promise.all([
    client.send(new GetAccountCommand()),
    findIdentity(client, mailFrom),
  ])
  const problems = [
    ...accountProblems(account),
    ...(identity === undefined
      ? [`SES has verified neither ${identitiesOf(mailFrom).join(' nor ')}: no mail can be sent`]
      : identityProblems(identity)),
  ]
  return judge(
    problems,
    `SES sends from ${mailFrom}, by its identity ${identity?.name ?? ''}; ${quotaOf(account)}`,
  )
}

type Account = Pick<GetAccountCommandOutput, 'ProductionAccessEnabled' | 'SendingEnabled' | 'SendQuota'>

/** Says how many mails were sent in 24 hours, and the quota. A `Max24HourSend` of -1 means no quota. */
const quotaOf = ({ SendQuota: { Max24HourSend = 0, SentLast24Hours = 0 } = {} }: Account): string =>
  `${SentLast24Hours} mails sent in 24 hours${Max24HourSend < 0 ? '' : `, of at most ${Max24HourSend}`}`

function accountProblems(account: Account): string[] {
  const { ProductionAccessEnabled: production, SendingEnabled: sending, SendQuota: quota = {} } = account
  const { Max24HourSend: max = 0, SentLast24Hours: sent = 0 } = quota
  return [
    ...(production
      ? []
      : [
          `the account is in the SES sandbox (${quotaOf(account)}, to verified recipients only): request production access`,
        ]),
    ...(sending ? [] : ['SES has switched off sending for the account']),
    ...(max >= 0 && sent >= max ? [`the quota of SES is used up (${quotaOf(account)})`] : []),
  ]
}

interface Identity {
  name: string
  /** Name of the SES configuration set that all mails of this identity use. */
  configurationSet: string | undefined
}

/** Finds the verified identity that SES uses for a sender: the most specific one. */
async function findIdentity(client: SESv2Client, mailFrom: string): Promise<Identity | undefined> {
  for (const name of identitiesOf(mailFrom)) {
    const found = await readIdentity(client, name)
    if (found?.VerifiedForSendingStatus) return { name, configurationSet: found.ConfigurationSetName }
  }
  return undefined
}

async function readIdentity(client: SESv2Client, name: string) {
  try {
    return await client.send(new GetEmailIdentityCommand({ EmailIdentity: name }))
  } catch (error) {
    if (error instanceof NotFoundException) return undefined
    throw error
  }
}

/**
 * Functions cannot send with a configuration set, because SES would also require ses:SendEmail on this set.
 */
const identityProblems = ({ name, configurationSet }: Identity): string[] =>
  configurationSet === undefined
    ? []
    : [
        `the identity ${name} has the default configuration set ${configurationSet}, with which functions may not send: remove it from the identity`,
      ]

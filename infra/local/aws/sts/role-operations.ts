import { randomUUID } from 'node:crypto'
import type { StackModel } from '../../model.ts'
import type { Callers } from '../iam/callers.ts'
import { AwsError, type Answer } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

/** Session lifetime that AssumeRole reports. Its access key really works until the endpoint stops. */
const sessionMilliseconds = 3_600_000

/** STS in the query protocol (XML): GetCallerIdentity, and AssumeRole for roles that people assume. */
export function stsService(model: StackModel, callers: Callers): Service {
  return ({ method, path, body }) => {
    if (method !== 'POST' || path !== '/') return undefined
    const query = new URLSearchParams(body.toString())
    const action = query.get('Action')
    if (action === 'GetCallerIdentity')
      return {
        access: () => [],
        run: ({ caller: { arn, userId } }) =>
          xmlAnswer(
            action,
            `<Arn>${arn}</Arn><UserId>${userId}</UserId><Account>${model.accountId}</Account>`,
          ),
      }
    if (action !== 'AssumeRole') return undefined
    const arn = query.get('RoleArn') ?? ''
    return {
      access: () => [{ action: 'sts:AssumeRole', resource: arn }],
      run: () => assumeRole(model, callers, arn),
    }
  }
}

function assumeRole(model: StackModel, callers: Callers, arn: string): Answer {
  const holder = model.roles.some((role) => role.arn === arn) ? callers.of(arn) : undefined
  if (holder === undefined)
    throw new AwsError('AccessDenied', `Nobody may assume ${arn} here.`, { status: 403 })
  const { accessKeyId, secretAccessKey } = holder.credentials
  const expiration = new Date(Date.now() + sessionMilliseconds).toISOString()
  return xmlAnswer(
    'AssumeRole',
    `<Credentials><AccessKeyId>${accessKeyId}</AccessKeyId>` +
      `<SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>local</SessionToken>` +
      `<Expiration>${expiration}</Expiration></Credentials><AssumedRoleUser><Arn>${holder.arn}</Arn>` +
      `<AssumedRoleId>${holder.userId}</AssumedRoleId></AssumedRoleUser>`,
  )
}

function xmlAnswer(action: string, result: string): Answer {
  const body =
    `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result>${result}` +
    `</${action}Result><ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata>` +
    `</${action}Response>`
  return { status: 200, headers: { 'content-type': 'text/xml' }, body }
}

import { randomUUID } from 'node:crypto'
import type { RoleModel } from '../../model.ts'
import type { Callers } from '../iam/callers.ts'
import { AwsError } from '../wire/aws-error.ts'
import type { Call } from '../wire/operation.ts'

/** What is answered as the end of a session; a role's key works for as long as the endpoint runs. */
const hourMilliseconds = 3_600_000

/** STS's answer to AssumeRole, in its query protocol: the key of a role that people take on. */
export function assumeRole(roles: RoleModel[], callers: Callers, query: URLSearchParams, call: Call): string {
  const arn = query.get('RoleArn') ?? ''
  call.authorize({ action: 'sts:AssumeRole', resource: arn })
  const found = roles.some((role) => role.arn === arn) ? callers.of(arn) : undefined
  if (found === undefined)
    throw new AwsError('AccessDenied', `Nobody may take on ${arn} here.`, { status: 403 })
  const { accessKeyId, secretAccessKey } = found.credentials
  return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>\
<Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey>\
<SessionToken>local</SessionToken><Expiration>${new Date(Date.now() + hourMilliseconds).toISOString()}</Expiration></Credentials>\
<AssumedRoleUser><Arn>${found.caller.arn}</Arn><AssumedRoleId>${found.caller.userId}</AssumedRoleId></AssumedRoleUser>\
</AssumeRoleResult><ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></AssumeRoleResponse>`
}

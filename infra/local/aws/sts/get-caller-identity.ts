import { randomUUID } from 'node:crypto'

/** STS's answer to GetCallerIdentity, in its query protocol: XML. */
export function describeCallerIdentity(caller: { userId: string; accountId: string; arn: string }): string {
  return `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>\
<Arn>${caller.arn}</Arn><UserId>${caller.userId}</UserId><Account>${caller.accountId}</Account>\
</GetCallerIdentityResult><ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></GetCallerIdentityResponse>`
}

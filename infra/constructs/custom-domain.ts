import { CfnOutput, Stack } from 'aws-cdk-lib'
import { DomainName, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'

/** Creates the API's custom domain and its DNS record. Returns undefined if no `domainName` is configured. */
export function addDomain(scope: Construct, config: Config): DomainName | undefined {
  const { domainName, certificateArn } = config
  if (domainName === undefined || certificateArn === undefined) return undefined
  const domain = new DomainName(scope, 'Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    securityPolicy: SecurityPolicy.TLS_1_2,
  })
  addDomainRecord(scope, config, {
    dnsName: domain.regionalDomainName,
    hostedZoneId: domain.regionalHostedZoneId,
  })
  return domain
}

/** Creates the DNS record of `domainName`, if the stage says where, and the stack outputs that one needs. */
export function addDomainRecord(
  scope: Construct,
  { domainName, hostedZoneId }: Config,
  target: { dnsName: string; hostedZoneId: string },
): void {
  if (domainName === undefined) return
  if (hostedZoneId !== undefined)
    new CfnRecordSet(scope, 'DomainRecord', {
      hostedZoneId,
      name: domainName,
      type: 'A',
      aliasTarget: target,
    })
  new CfnOutput(Stack.of(scope), 'DomainTarget', { value: target.dnsName })
  new CfnOutput(Stack.of(scope), 'DomainTargetHostedZoneId', { value: target.hostedZoneId })
}

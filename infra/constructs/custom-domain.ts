import { CfnOutput } from 'aws-cdk-lib'
import { DomainName, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'

/**
 * Creates the API's custom domain and the stack outputs that its DNS record needs. Returns undefined if no
 * `domainName` is configured.
 */
export function addDomain(scope: Construct, config: Config): DomainName | undefined {
  const { domainName, certificateArn, hostedZoneId } = config
  if (domainName === undefined || certificateArn === undefined) return undefined
  const domain = new DomainName(scope, 'Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    securityPolicy: SecurityPolicy.TLS_1_2,
  })
  if (hostedZoneId !== undefined)
    new CfnRecordSet(scope, 'DomainRecord', {
      hostedZoneId,
      name: domainName,
      type: 'A',
      aliasTarget: { dnsName: domain.regionalDomainName, hostedZoneId: domain.regionalHostedZoneId },
    })
  new CfnOutput(scope, 'DomainTarget', { value: domain.regionalDomainName })
  new CfnOutput(scope, 'DomainTargetHostedZoneId', { value: domain.regionalHostedZoneId })
  return domain
}

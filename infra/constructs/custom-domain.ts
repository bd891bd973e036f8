import { CfnOutput, Stack } from 'aws-cdk-lib'
import { DomainName, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'

/** Creates the API's custom domain. Returns undefined if no `domainName` is configured. */
export function addDomain(scope: Construct, config: Config): DomainName | undefined {
  const { domainName, certificateArn } = config
  if (domainName === undefined || certificateArn === undefined) return undefined
  const domain = new DomainName(scope, 'Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    securityPolicy: SecurityPolicy.TLS_1_2,
  })
  addDomainOutputs(scope, config, {
    dnsName: domain.regionalDomainName,
    hostedZoneId: domain.regionalHostedZoneId,
  })
  return domain
}

/** Creates the stack outputs from which the DNS alias record of `domainName` can be written. */
export function addDomainOutputs(
  scope: Construct,
  { domainName }: Config,
  target: { dnsName: string; hostedZoneId: string },
): void {
  if (domainName === undefined) return
  new CfnOutput(Stack.of(scope), 'DomainTarget', { value: target.dnsName })
  new CfnOutput(Stack.of(scope), 'DomainTargetHostedZoneId', { value: target.hostedZoneId })
}

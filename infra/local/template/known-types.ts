/**
 * Types that the local stack leaves out: they watch, pay, encrypt in transit or publish, and nothing that a
 * request or an event does depends on them. A trailing `*` stands for every type that begins so.
 */
export const ignoredTypes = [
  'AWS::ApiGatewayV2::ApiMapping',
  'AWS::ApiGatewayV2::DomainName',
  'AWS::ApiGatewayV2::Stage',
  'AWS::ApplicationInsights::*',
  'AWS::Budgets::*',
  'AWS::CDK::Metadata',
  'AWS::CertificateManager::*',
  'AWS::CloudFront::*',
  'AWS::CloudTrail::*',
  'AWS::CloudWatch::*',
  'AWS::CodeDeploy::*',
  'AWS::Events::Archive',
  'AWS::Events::EventBusPolicy',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Permission',
  'AWS::Logs::*',
  'AWS::ResourceGroups::*',
  'AWS::Route53::*',
  'AWS::S3::*',
  'AWS::SES::*',
  'AWS::SNS::*',
  'AWS::SQS::QueuePolicy',
  'AWS::SSM::Parameter',
  'AWS::Scheduler::ScheduleGroup',
  'AWS::WAFv2::*',
  'AWS::XRay::*',
  'AWS::CloudFormation::CustomResource',
  'Custom::*',
] as const

/** Whether resources of this type make no difference to what the local stack does. */
export const isIgnored = (type: string): boolean =>
  ignoredTypes.some((known) => (known.endsWith('*') ? type.startsWith(known.slice(0, -1)) : type === known))

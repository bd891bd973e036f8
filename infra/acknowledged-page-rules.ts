import { CfnDistribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnBucket } from 'aws-cdk-lib/aws-s3'
import type { IConstruct } from 'constructs'
import type { Acknowledgement } from './acknowledgement.ts'

/** Whether this belongs to the function of CDK's own that copies files into a bucket while a stack is deployed. */
const isDeployer = (construct: IConstruct): boolean =>
  construct.node.path.includes('/Custom::CDKBucketDeployment')

const deployerReason =
  'The role of CDK’s own deployment function, which runs only while a stack is deployed and reaches only CDK’s asset bucket, the page’s bucket and CloudFront’s invalidations, which know no narrower resource.'

/** What the checks say about the authorization page's stacks and does not hold there. */
export const pageAcknowledgements: Acknowledgement[] = [
  {
    id: 'AwsSolutions::AwsSolutions-S1',
    reason: 'The bucket holds four public files, and CloudFront alone may read them.',
    applies: (construct) => construct instanceof CfnBucket,
  },
  {
    id: 'AwsSolutions::AwsSolutions-CFR1',
    reason: 'The service has members everywhere.',
    applies: (construct) => construct instanceof CfnDistribution,
  },
  {
    id: 'AwsSolutions::AwsSolutions-CFR2',
    reason: 'The distribution serves files that never change with a request: there is nothing to attack.',
    applies: (construct) => construct instanceof CfnDistribution,
  },
  {
    id: 'AwsSolutions::AwsSolutions-CFR3',
    reason:
      'An access log would keep the apps’ requests, which stand in the query; the API logs what it is asked.',
    applies: (construct) => construct instanceof CfnDistribution,
  },
  {
    id: 'AwsSolutions::AwsSolutions-CFR4',
    reason:
      'CloudFront’s own certificate fixes the oldest protocol; a domain of one’s own goes in front, named by `authUrl`.',
    applies: (construct) => construct instanceof CfnDistribution,
  },
  ...[
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
    'IAM5[Action::s3:GetObject*]',
    'IAM5[Action::s3:GetBucket*]',
    'IAM5[Action::s3:List*]',
    'IAM5[Action::s3:DeleteObject*]',
    'IAM5[Action::s3:Abort*]',
    'IAM5[Resource::*]',
    'IAM5[Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*]',
  ].map((finding) => ({
    id: `AwsSolutions::AwsSolutions-${finding}`,
    reason: deployerReason,
    applies: isDeployer,
  })),
  ...['AwsSolutions::AwsSolutions-L1', 'Serverless::Serverless-LambdaLatestVersion'].map((id) => ({
    id,
    reason: 'The runtime of CDK’s own deployment function is CDK’s to choose.',
    applies: (construct: IConstruct) => construct instanceof CfnFunction && isDeployer(construct),
  })),
]

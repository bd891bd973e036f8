import { Stack, type StackProps, Validations } from 'aws-cdk-lib'
import { BucketDeployment, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment'
import type { Construct } from 'constructs'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageDirectory, renderIndex } from '../bundle-authorization-page.ts'
import { assetCacheControl, indexCacheControl } from '../authorization-page-headers.ts'
import type { AuthorizationPageStack } from './authorization-page-stack.ts'

interface AuthorizationPageContentStackProps extends StackProps {
  page: AuthorizationPageStack
  /** Address of the API, without a trailing slash. */
  baseUrl: string
}

/** Puts the bundled page, told where the API is, into the page's bucket. The bundle must be there: see bundle-page.ts. */
export class AuthorizationPageContentStack extends Stack {
  constructor(scope: Construct, id: string, props: AuthorizationPageContentStackProps) {
    super(scope, id, props)
    const { page, baseUrl } = props
    const assets = new BucketDeployment(this, 'Assets', {
      destinationBucket: page.bucket,
      destinationKeyPrefix: 'assets',
      sources: [Source.asset(join(pageDirectory, 'assets'))],
      cacheControl: [CacheControl.fromString(assetCacheControl)],
      // A page that was opened a moment ago may still ask for the assets of the last deployment.
      prune: false,
    })
    const index = new BucketDeployment(this, 'Index', {
      destinationBucket: page.bucket,
      sources: [
        Source.data(
          'index.html',
          renderIndex(readFileSync(join(pageDirectory, 'index.html'), 'utf8'), baseUrl),
        ),
      ],
      cacheControl: [CacheControl.fromString(indexCacheControl)],
      prune: false,
      distribution: page.distribution,
      distributionPaths: ['/', '/index.html'],
    })
    // The page must not name what is not there yet.
    index.node.addDependency(assets)
    Validations.of(this).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${page.stackName}:ExportsOutputFnGetAttBucket83908E77Arn063C8555/*]`,
      reason: 'What is deployed is written to any key of the page’s own bucket.',
    })
  }
}

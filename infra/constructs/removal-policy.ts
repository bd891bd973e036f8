import { RemovalPolicy } from 'aws-cdk-lib'
import type { Config } from '../config.ts'

/**
 * What happens to a resource with data when it leaves its stack. A stage that protects its data keeps the
 * resource, except if the deployment that created the resource is rolled back. After such a rollback, the
 * name of a kept resource would block the next deployment.
 */
export const removalPolicy = ({ protectData }: Config): RemovalPolicy =>
  protectData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY

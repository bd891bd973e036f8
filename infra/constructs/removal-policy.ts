import { RemovalPolicy } from 'aws-cdk-lib'
import type { Config } from '../config.ts'

/**
 * What happens to a resource with data when it leaves its stack. With `protectData`, the resource is kept.
 * But if the deployment that creates the resource is rolled back, the resource is deleted. Otherwise its name
 * would block the next deployment.
 */
export const removalPolicy = ({ protectData }: Config): RemovalPolicy =>
  protectData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY

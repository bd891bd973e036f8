import { RemovalPolicy } from 'aws-cdk-lib'
import type { Config } from '../config.ts'

/**
 * What becomes of a resource with data when it leaves its stack: a stage that protects its data keeps it,
 * except what a first deployment created that was rolled back. Kept, that would block the next deployment,
 * because its name would be taken.
 */
export const removalPolicy = ({ protectData }: Config): RemovalPolicy =>
  protectData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY

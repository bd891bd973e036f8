import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { removalPolicy } from './removal-policy.ts'

/** Creates the log group of a function. By default, CloudFormation chooses the name. */
export const addLogGroup = (scope: Construct, id: string, config: Config, logGroupName?: string): LogGroup =>
  new LogGroup(scope, id, {
    ...(logGroupName === undefined ? {} : { logGroupName }),
    retention: config.logRetentionDays,
    removalPolicy: removalPolicy(config),
  })

/**
 * Lets a function write to its own log group. AWS's managed policy would also allow functions to write to
 * other log groups, and to create a deleted log group again.
 */
export const writeLogs = (logGroup: LogGroup): PolicyStatement =>
  new PolicyStatement({
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [logGroup.logGroupArn],
  })

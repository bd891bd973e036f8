import { CustomResource, Duration } from 'aws-cdk-lib'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'
import type { ServiceResources } from './grant.ts'
import { ServiceFunction } from './service-function.ts'

interface SigningKeyDeletionProps {
  config: Config
  resources: ServiceResources
}

/** Enough to wait until KMS shows the tags of a new key, which takes up to five minutes. */
const timeoutSeconds = 600

/**
 * Deletes the signing keys when the stack of an unprotected stage is deleted. Whatever makes new keys must
 * depend on it, so that it is removed before. A protected stage has it too, without any right to delete:
 * if it were removed when `protectData` is switched on, CloudFormation would have the keys deleted.
 */
export class SigningKeyDeletion extends Construct {
  constructor(scope: Construct, id: string, { config, resources }: SigningKeyDeletionProps) {
    super(scope, id)
    const { function: fn } = new ServiceFunction(this, 'Function', {
      config,
      entry: 'stack/delete-signing-keys',
      name: 'delete-signing-keys',
      permissions: config.protectData ? {} : { table: { GetItem: ['KEYS'] }, signingKeys: 'delete' },
      resources,
      defaultTimeoutSeconds: timeoutSeconds,
    })
    new CustomResource(this, 'Keys', {
      resourceType: 'Custom::SigningKeys',
      serviceToken: fn.functionArn,
      properties: { DeleteKeys: !config.protectData },
      // CloudFormation would otherwise wait an hour for a function that died.
      serviceTimeout: Duration.seconds(3 * timeoutSeconds),
    })
  }
}

import { devNull } from 'node:os'

/** What stays: the credentials, by which the local stack knows the roles that it made. */
const kept = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']

/** Files of the AWS SDK's shared configuration, as variables. The files are empty. */
export const emptyAwsFiles = { AWS_CONFIG_FILE: devNull, AWS_SHARED_CREDENTIALS_FILE: devNull }

/**
 * Makes the AWS SDK in this process ignore the AWS settings of the machine: variables and files such as
 * `~/.aws/config`. They are meant for AWS, and some of them make calls to a local endpoint impossible, for
 * example FIPS and dual-stack endpoints, endpoints of single services, or an unknown profile.
 */
export function forgetAwsSettings(): void {
  for (const name of Object.keys(process.env))
    if (name.startsWith('AWS_') && !kept.includes(name)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, emptyAwsFiles)
}

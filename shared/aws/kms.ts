import { KMSClient } from '@aws-sdk/client-kms'
import { awsClient } from './aws-client.ts'
import { clientOptions } from './client-options.ts'

/** The KMS client. KMS holds every key that the service uses; no private key ever leaves it. */
export const kms = awsClient(new KMSClient(clientOptions()))
